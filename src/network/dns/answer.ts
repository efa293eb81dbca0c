/**
 * Writes DNS responses.
 *
 * 1. A response repeats the question as received, including upper and lower case: some resolvers check that.
 * 2. Names are compressed, except in SRV records.
 */
import {
  type Answer,
  CODES,
  EDNS_BYTES,
  HEADER_BYTES,
  OPT,
  type Question,
  type ResponseCode,
  TYPES,
} from "./message.ts";
import type { DnsRecord, RecordData } from "./records.ts";
import { groupsOf } from "./reverse.ts";

/** `limit`: the bytes that the client accepts. Records that do not fit are left out, and the TC bit is set. */
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
  // Additional records are optional: they are left out silently.
  let extras = truncated ? 0 : written(additional);
  if (question.edns !== "none") {
    writer.edns(question.edns === "unknownVersion");
    extras += 1;
  }
  const code = question.edns === "unknownVersion" ? CODES.ok : answer.code;
  return writer.finish({ ...answer, code, truncated, counts: [answers, authorities, extras] });
}

/** The response to an unreadable question. */
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

  /** False if it does not fit: then nothing is written. */
  record(record: DnsRecord, ttlSeconds: number, limit: number): boolean {
    return this.#whole(limit, () => {
      this.#head(record.name, TYPES[record.type] ?? 0, ttlSeconds);
      this.#sized(() => this.#data(record));
    });
  }

  /** The SOA record of the zone, with the TTL of negative answers. */
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

  /** Without compression: RFC 2782 requires it for SRV targets, and some resolvers check it. */
  #wholeName(name: string): void {
    for (const label of name.split(".")) this.#text(label);
    this.#byte(0);
  }

  /** Registers the labels of a name that is in the message already. */
  #remember(name: string, start: number): void {
    // Names with escapes have no records: their offsets are never needed.
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
