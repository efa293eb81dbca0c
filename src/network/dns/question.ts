/**
 * Reads a DNS question.
 *
 * The message is not trusted: a label that exceeds the message, a pointer, or a name that is too long makes it
 * unreadable. A dot within a label is escaped as `\\.`, so that it is not mistaken for a separator.
 */
import {
  CODES,
  EDNS_BYTES,
  HEADER_BYTES,
  OPT,
  PLAIN_UDP_BYTES,
  type Question,
  type ResponseCode,
  TYPES,
} from "./message.ts";

const MAX_NAME_BYTES = 255;
const TYPE_NAMES = new Map(Object.entries(TYPES).map(([name, number]) => [number, name]));

export type Reading =
  | { readonly ok: true; readonly question: Question }
  /** `id` undefined: the message is not worth a response. */
  | { readonly ok: false; readonly id: number | undefined; readonly code: ResponseCode };

export function readQuestion(message: Buffer): Reading {
  if (message.length < HEADER_BYTES) return { ok: false, id: undefined, code: CODES.malformed };
  const id = message.readUInt16BE(0);
  const flags = message.readUInt16BE(2);
  // Responses are never answered: two servers would go on forever.
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
    // The terminating zero counts as well.
    if (length > 63 || at + 1 + length > message.length || at + 2 + length - start > MAX_NAME_BYTES) return undefined;
    const label = escaped(message.toString("latin1", at + 1, at + 1 + length));
    text = text === "" ? label : `${text}.${label}`;
    at += 1 + length;
  }
  return undefined;
}

/** Only ASCII letters are case-insensitive in DNS (RFC 4343). */
function lowered(name: string): string {
  return /[\x80-\xff]/.test(name) ? name.replaceAll(/[A-Z]+/g, (text) => text.toLowerCase()) : name.toLowerCase();
}

function escaped(label: string): string {
  return /[.\\]/.test(label) ? label.replaceAll(/[.\\]/g, "\\$&") : label;
}

/** The EDNS record after the question; undefined if it is cut off. */
function readEdns(message: Buffer, at: number): Pick<Question, "udpBytes" | "edns"> | undefined {
  if (message.readUInt16BE(10) === 0) return { udpBytes: undefined, edns: "none" };
  if (at + EDNS_BYTES > message.length) return undefined;
  const isFirst = message.readUInt16BE(6) === 0 && message.readUInt16BE(8) === 0;
  if (!isFirst || message[at] !== 0 || message.readUInt16BE(at + 1) !== OPT)
    return { udpBytes: undefined, edns: "none" };
  const udpBytes = Math.max(message.readUInt16BE(at + 3), PLAIN_UDP_BYTES);
  return { udpBytes, edns: message[at + 6] === 0 ? "known" : "unknownVersion" };
}
