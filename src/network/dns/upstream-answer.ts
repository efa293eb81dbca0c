/**
 * Reads the responses of other servers: their addresses and aliases, and where their TTLs stand, so that a cached
 * response can be returned with what is left of them.
 */
import { formatIp } from "#api";
import { HEADER_BYTES, OPT, TYPES } from "./message.ts";
import type { DnsRecord } from "./records.ts";

const MAX_NAME_BYTES = 255;
/** Type, class, TTL and length of a record. */
const FIXED_BYTES = 10;

export interface Lifetimes {
  /** Of the TTL fields in the message. */
  readonly offsets: readonly number[];
  /** The shortest TTL. */
  readonly seconds: number;
}

/** Undefined if the message cannot be read to its end. */
export function lifetimesOf(message: Buffer): Lifetimes | undefined {
  const records = sectionsOf(message);
  if (records === undefined) return undefined;
  const offsets: number[] = [];
  let seconds = Number.POSITIVE_INFINITY;
  for (const { type, at, end } of [...records.answers, ...records.others]) {
    if (type !== OPT) {
      offsets.push(at + 4);
      seconds = Math.min(seconds, message.readUInt32BE(at + 4));
      // The TTL of negative answers (RFC 2308).
      if (type === TYPES.SOA && end - 4 >= at + 10) seconds = Math.min(seconds, message.readUInt32BE(end - 4));
    }
  }
  return { offsets, seconds: Number.isFinite(seconds) ? seconds : 0 };
}

/** A copy with this id and reduced TTLs. */
export function aged(message: Buffer, { offsets }: Lifetimes, id: number, bySeconds: number): Buffer {
  const copy = Buffer.from(message);
  copy.writeUInt16BE(id, 0);
  for (const offset of offsets) copy.writeUInt32BE(Math.max(0, message.readUInt32BE(offset) - bySeconds), offset);
  return copy;
}

/** The addresses and aliases among the answers; undefined if the message cannot be read to its end. */
export function recordsOf(message: Buffer): DnsRecord[] | undefined {
  const answers = sectionsOf(message)?.answers;
  return answers?.flatMap(({ type, name: start, at, end }): DnsRecord[] => {
    const name = readName(message, start);
    const data = at + FIXED_BYTES;
    if (name === undefined) return [];
    if (type === TYPES.A && end - data === 4)
      return [{ name, type: "A", address: message.subarray(data, end).join(".") }];
    if (type === TYPES.AAAA && end - data === 16)
      return [{ name, type: "AAAA", address: formatIp({ bytes: [...message.subarray(data, end)] }) }];
    const target = type === TYPES.CNAME ? readName(message, data) : undefined;
    return target === undefined ? [] : [{ name, type: "CNAME", target }];
  });
}

/** A record in a message, by its offsets. */
interface RecordPlace {
  readonly name: number;
  readonly type: number;
  /** Where the fixed fields begin: type, class, TTL, length. */
  readonly at: number;
  readonly end: number;
}

/** The records after the question; undefined if one of them exceeds the message. */
function sectionsOf(
  message: Buffer,
): { readonly answers: readonly RecordPlace[]; readonly others: readonly RecordPlace[] } | undefined {
  if (message.length < HEADER_BYTES) return undefined;
  let at: number | undefined = HEADER_BYTES;
  for (let left = message.readUInt16BE(4); left > 0; left--) {
    at = afterName(message, at);
    if (at === undefined) return undefined;
    at += 4;
  }
  const places: RecordPlace[] = [];
  const answers = message.readUInt16BE(6);
  const count = answers + message.readUInt16BE(8) + message.readUInt16BE(10);
  while (places.length < count) {
    const name: number = at;
    at = afterName(message, name);
    if (at === undefined || at + FIXED_BYTES > message.length) return undefined;
    const end: number = at + FIXED_BYTES + message.readUInt16BE(at + 8);
    if (end > message.length) return undefined;
    places.push({ name, type: message.readUInt16BE(at), at, end });
    at = end;
  }
  return { answers: places.slice(0, answers), others: places.slice(answers) };
}

function afterName(message: Buffer, start: number): number | undefined {
  for (let at = start; at < message.length; ) {
    const length = message[at] ?? 0;
    if (length === 0) return at + 1;
    if ((length & 0xc0) === 0xc0) return at + 2;
    if (length > 63) return undefined;
    at += 1 + length;
  }
  return undefined;
}

/** A name that may be compressed. Undefined if it exceeds the message, or if its pointers form a loop. */
function readName(message: Buffer, start: number): string | undefined {
  const labels: string[] = [];
  let at = start;
  for (let steps = 0; steps < MAX_NAME_BYTES && at < message.length; steps++) {
    const length = message[at] ?? 0;
    if (length === 0) return labels.join(".");
    if ((length & 0xc0) === 0xc0) {
      if (at + 2 > message.length) return undefined;
      at = message.readUInt16BE(at) & 0x3fff;
      continue;
    }
    if (length > 63 || at + 1 + length > message.length) return undefined;
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return undefined;
}
