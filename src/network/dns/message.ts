/**
 * Messages of DNS as bytes (RFC 1035, 6891): reading a question, writing an answer.
 *
 * 1. A question is read without trust: a label that runs out of the message, a pointer, or a name that is too long makes it unreadable. A dot within a
 *    label is written as `\.`: it must not be taken for the one between two labels.
 * 2. An answer repeats the question as it was asked, upper and lower case included: some who ask check that.
 * 3. Names that were written before in a message are pointed to, but in SRV records.
 */
import type { DnsRecord, RecordData } from "./records.ts";
import { groupsOf } from "./reverse.ts";

const HEADER_BYTES = 12;
const MAX_NAME_BYTES = 255;
const OPT = 41;
const EDNS_BYTES = 11;
/** Who does not say how much they take, takes this. */
export const PLAIN_UDP_BYTES = 512;

export const TYPES: Readonly<Record<string, number>> = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  ANY: 255,
};
const TYPE_NAMES = new Map(Object.entries(TYPES).map(([name, number]) => [number, name]));

export const CODES = { ok: 0, malformed: 1, failed: 2, absent: 3, notImplemented: 4, refused: 5 } as const;
export type ResponseCode = (typeof CODES)[keyof typeof CODES];

export interface Question {
  readonly id: number;
  /** In lower case, without the last dot. */
  readonly name: string;
  readonly type: string;
  readonly classIsInternet: boolean;
  readonly recursionDesired: boolean;
  /** As it stands in the message. */
  readonly bytes: Buffer;
  /** Undefined for those who know nothing of EDNS. */
  readonly udpBytes: number | undefined;
  readonly edns: "none" | "known" | "unknownVersion";
}

export type Reading =
  | { readonly ok: true; readonly question: Question }
  /** Undefined: not even worth an answer. */
  | { readonly ok: false; readonly id: number | undefined; readonly code: ResponseCode };

export function readQuestion(message: Buffer): Reading {
  if (message.length < HEADER_BYTES) return { ok: false, id: undefined, code: CODES.malformed };
  const id = message.readUInt16BE(0);
  const flags = message.readUInt16BE(2);
  // An answer is never answered: two servers would go on for ever.
  if ((flags & 0x8000) !== 0) return { ok: false, id: undefined, code: CODES.malformed };
  if ((flags & 0x7800) !== 0) return { ok: false, id, code: CODES.notImplemented };
  if (message.readUInt16BE(4) !== 1) return { ok: false, id, code: CODES.malformed };
  const name = readName(message, HEADER_BYTES);
  if (name === undefined || name.end + 4 > message.length) return { ok: false, id, code: CODES.malformed };
  const end = name.end + 4;
  const type = message.readUInt16BE(name.end);
  const edns = readEdns(message, end);
  if (edns === undefined) return { ok: false, id, code: CODES.malformed };
  const question: Question = {
    id,
    name: name.text,
    type: TYPE_NAMES.get(type) ?? `TYPE${type}`,
    classIsInternet: message.readUInt16BE(name.end + 2) === 1,
    recursionDesired: (flags & 0x0100) !== 0,
    bytes: message.subarray(HEADER_BYTES, end),
    ...edns,
  };
  return { ok: true, question };
}

function readName(message: Buffer, start: number): { text: string; end: number } | undefined {
  let text = "";
  for (let at = start; at < message.length; ) {
    const length = message[at] ?? 0;
    if (length === 0) return { text: lowered(text), end: at + 1 };
    // The zero at the end counts, too.
    if (length > 63 || at + 1 + length > message.length || at + 2 + length - start > MAX_NAME_BYTES) return undefined;
    const label = escaped(message.toString("latin1", at + 1, at + 1 + length));
    text = text === "" ? label : `${text}.${label}`;
    at += 1 + length;
  }
  return undefined;
}

/** Only letters of ASCII have two cases in DNS (RFC 4343). */
function lowered(name: string): string {
  return /[\x80-\xff]/.test(name) ? name.replaceAll(/[A-Z]+/g, (text) => text.toLowerCase()) : name.toLowerCase();
}

function escaped(label: string): string {
  return /[.\\]/.test(label) ? label.replaceAll(/[.\\]/g, "\\$&") : label;
}

/** What follows the question, if it is only the record that says how much the other side takes. */
function readEdns(message: Buffer, at: number): Pick<Question, "udpBytes" | "edns"> | undefined {
  if (message.readUInt16BE(10) === 0) return { udpBytes: undefined, edns: "none" };
  if (at + EDNS_BYTES > message.length) return undefined;
  const isFirst = message.readUInt16BE(6) === 0 && message.readUInt16BE(8) === 0;
  if (!isFirst || message[at] !== 0 || message.readUInt16BE(at + 1) !== OPT)
    return { udpBytes: undefined, edns: "none" };
  const udpBytes = Math.max(message.readUInt16BE(at + 3), PLAIN_UDP_BYTES);
  return { udpBytes, edns: message[at + 6] === 0 ? "known" : "unknownVersion" };
}

export interface Answer {
  readonly code: ResponseCode;
  readonly authoritative: boolean;
  readonly records: readonly DnsRecord[];
  readonly additional?: readonly DnsRecord[];
  /** Goes with what is not there: how long that may be remembered. */
  readonly zone?: string;
  readonly ttlSeconds: number;
}

/** `limit`: as many bytes as the other side takes; what does not fit is left out, and said to be. */
export function writeAnswer(question: Question, answer: Answer, limit: number): Buffer {
  const writer = new Writer(question);
  const { records, additional = [], zone, ttlSeconds } = answer;
  const room = limit - (question.edns === "none" ? 0 : EDNS_BYTES);
  const written = (all: readonly DnsRecord[]) => {
    const full = all.findIndex((record) => !writer.record(record, ttlSeconds, room));
    return full === -1 ? all.length : full;
  };
  const answers = written(records);
  const truncated = answers < records.length;
  const authorities = zone !== undefined && writer.authority(zone, ttlSeconds, room) ? 1 : 0;
  // More than was asked for: left out without a word where there is no room.
  let extras = truncated ? 0 : written(additional);
  if (question.edns !== "none") {
    writer.edns(question.edns === "unknownVersion");
    extras += 1;
  }
  const code = question.edns === "unknownVersion" ? CODES.ok : answer.code;
  return writer.finish({ ...answer, code, truncated, counts: [answers, authorities, extras] });
}

/** To those whose question could not be read. */
export function writeFailure(id: number, code: ResponseCode): Buffer {
  const message = Buffer.alloc(HEADER_BYTES);
  message.writeUInt16BE(id, 0);
  message.writeUInt16BE(0x8000 | code, 2);
  return message;
}

interface Finish {
  readonly code: number;
  readonly authoritative: boolean;
  readonly truncated: boolean;
  readonly counts: readonly number[];
}

const GROWTH = 512;
const MAX_MESSAGE_BYTES = 65_535;

class Writer {
  readonly #question: Question;
  readonly #offsets = new Map<string, number>();
  #bytes = Buffer.alloc(GROWTH);
  #at: number;

  constructor(question: Question) {
    this.#question = question;
    this.#reserve(question.bytes.length);
    this.#at = HEADER_BYTES;
    question.bytes.copy(this.#bytes, this.#at);
    this.#remember(question.name, this.#at);
    this.#at += question.bytes.length;
  }

  /** False, and nothing written, where it does not fit. */
  record(record: DnsRecord, ttlSeconds: number, limit: number): boolean {
    return this.#whole(limit, () => {
      this.#head(record.name, TYPES[record.type] ?? 0, ttlSeconds);
      this.#sized(() => this.#data(record));
    });
  }

  /** SOA: who answers for the zone, and for how long what is missing stays missing. */
  authority(zone: string, ttlSeconds: number, limit: number): boolean {
    return this.#whole(limit, () => {
      this.#head(zone, TYPES.SOA ?? 0, ttlSeconds);
      this.#sized(() => {
        this.#name(`ns.dns.${zone}`);
        this.#name(`hostmaster.${zone}`);
        for (const number of [1, 7200, 1800, 86_400, ttlSeconds]) this.#uint32(number);
      });
    });
  }

  edns(badVersion: boolean): void {
    this.#byte(0);
    this.#uint16(OPT);
    this.#uint16(4096);
    this.#uint32(badVersion ? 0x01000000 : 0);
    this.#uint16(0);
  }

  finish({ code, authoritative, truncated, counts }: Finish): Buffer {
    const { id, recursionDesired } = this.#question;
    const message = this.#bytes.subarray(0, this.#at);
    message.writeUInt16BE(id, 0);
    const flags = 0x8080 | (authoritative ? 0x0400 : 0) | (truncated ? 0x0200 : 0) | (recursionDesired ? 0x0100 : 0);
    message.writeUInt16BE(flags | code, 2);
    message.writeUInt16BE(1, 4);
    for (const [index, count] of counts.entries()) message.writeUInt16BE(count, 6 + 2 * index);
    return message;
  }

  #whole(limit: number, write: () => void): boolean {
    const start = this.#at;
    write();
    if (this.#at <= limit) return true;
    this.#at = start;
    for (const [name, offset] of this.#offsets) if (offset >= start) this.#offsets.delete(name);
    return false;
  }

  #head(name: string, type: number, ttlSeconds: number): void {
    this.#name(name);
    this.#uint16(type);
    this.#uint16(1);
    this.#uint32(ttlSeconds);
  }

  #sized(write: () => void): void {
    const at = this.#at;
    this.#uint16(0);
    write();
    this.#bytes.writeUInt16BE(this.#at - at - 2, at);
  }

  #data(data: RecordData): void {
    switch (data.type) {
      case "A":
        for (const part of data.address.split(".")) this.#byte(Number(part));
        return;
      case "AAAA":
        for (const group of groupsOf(data.address)) this.#uint16(group);
        return;
      case "SRV":
        this.#uint16(data.priority);
        this.#uint16(data.weight);
        this.#uint16(data.port);
        this.#wholeName(data.target);
        return;
      case "TXT":
        this.#text(data.text);
        return;
      default:
        this.#name(data.target);
    }
  }

  #name(name: string): void {
    for (let rest = name; rest !== ""; ) {
      const offset = this.#offsets.get(rest);
      if (offset !== undefined) {
        this.#uint16(0xc000 | offset);
        return;
      }
      if (this.#at < 0x4000) this.#offsets.set(rest, this.#at);
      const dot = rest.indexOf(".");
      this.#text(dot === -1 ? rest : rest.slice(0, dot));
      rest = dot === -1 ? "" : rest.slice(dot + 1);
    }
    this.#byte(0);
  }

  /** Not pointed to: the target of a service has to be written out (RFC 2782), and some who ask check that. */
  #wholeName(name: string): void {
    for (const label of name.split(".")) this.#text(label);
    this.#byte(0);
  }

  /** The name stands there already, label by label. */
  #remember(name: string, start: number): void {
    // What had to be escaped has no records, and is not worth counting.
    if (name.includes("\\")) return;
    let at = start;
    for (let rest = name; rest !== ""; ) {
      this.#offsets.set(rest, at);
      const dot = rest.indexOf(".");
      if (dot === -1) return;
      at += dot + 1;
      rest = rest.slice(dot + 1);
    }
  }

  #text(text: string): void {
    const bytes = Buffer.from(text, "latin1").subarray(0, 255);
    this.#byte(bytes.length);
    this.#reserve(bytes.length);
    this.#at += bytes.copy(this.#bytes, this.#at);
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#at = this.#bytes.writeUInt8(value, this.#at);
  }

  #uint16(value: number): void {
    this.#reserve(2);
    this.#at = this.#bytes.writeUInt16BE(value, this.#at);
  }

  #uint32(value: number): void {
    this.#reserve(4);
    this.#at = this.#bytes.writeUInt32BE(value >>> 0, this.#at);
  }

  #reserve(bytes: number): void {
    const needed = (this.#at ?? HEADER_BYTES) + bytes;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.alloc(Math.min(Math.max(needed, this.#bytes.length * 2), 2 * MAX_MESSAGE_BYTES));
    this.#bytes.copy(grown);
    this.#bytes = grown;
  }
}
