/** Frames of a client, valid or not; and frames of the server as lines to compare. */
import { CODE, FLAG, FRAME, FRAME_HEAD } from "../codes.ts";
import { settingsPayload, uint32 } from "../payloads.ts";

export function frame(type: number, flags: number, id: number, payload: Buffer | string = ""): Buffer {
  const bytes = Buffer.from(payload);
  const head = Buffer.alloc(FRAME_HEAD);
  head.writeUIntBE(bytes.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(id, 5);
  return Buffer.concat([head, bytes]);
}

export const settings = (...all: readonly (readonly [number, number])[]) =>
  frame(FRAME.settings, 0, 0, settingsPayload(all));
export const settingsAck = frame(FRAME.settings, FLAG.ack, 0);
export const ping = (text = "12345678") => frame(FRAME.ping, 0, 0, text);
export const rstStream = (id: number, code: number = CODE.cancel) => frame(FRAME.rstStream, 0, id, uint32(code));
/** `dependency`: with 2^31 added, exclusive. */
export const priority = (id: number, dependency = 0, weight = 15) =>
  frame(FRAME.priority, 0, id, Buffer.concat([uint32(dependency), Buffer.from([weight])]));
export const goAway = (code: number = CODE.noError) =>
  frame(FRAME.goAway, 0, 0, Buffer.concat([uint32(0), uint32(code)]));
export const windowUpdate = (id: number, more: number) => frame(FRAME.windowUpdate, 0, id, uint32(more));
export const data = (id: number, payload: Buffer | string = "", flags = 0) => frame(FRAME.data, flags, id, payload);
export const lastData = (id: number, payload: Buffer | string = "") => data(id, payload, FLAG.endStream);
export const continuation = (id: number, payload: Buffer | string = "", flags: number = FLAG.endHeaders) =>
  frame(FRAME.continuation, flags, id, payload);

/** Pad length, payload, and so many zeros. */
export const padded = (payload: Buffer | string, padding: number) =>
  Buffer.concat([Buffer.from([padding]), Buffer.from(payload), Buffer.alloc(padding)]);

export type Field = readonly [name: string, value: string];

/** Literal fields without indexing. */
export function fieldBlock(fields: readonly Field[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), hpackString(name), hpackString(value)]));
}

function hpackString(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  const length = bytes.length < 127 ? [bytes.length] : [127];
  if (bytes.length >= 127) {
    let rest = bytes.length - 127;
    for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128);
    length.push(rest);
  }
  return Buffer.concat([Buffer.from(length), bytes]);
}

export const GET: readonly Field[] = [
  [":method", "GET"],
  [":scheme", "https"],
  [":path", "/"],
  [":authority", "k"],
];

export const headers = (id: number, fields: readonly Field[], flags: number = FLAG.endHeaders) =>
  frame(FRAME.headers, flags, id, fieldBlock(fields));
/** A request with this method; by default without a body. */
export const request = (id: number, method: string, flags: number = FLAG.endHeaders | FLAG.endStream) =>
  headers(id, [[":method", method], ...GET.slice(1)], flags);
/** A request without a body. */
export const get = (id: number, ...more: readonly Field[]) =>
  headers(id, [...GET, ...more], FLAG.endHeaders | FLAG.endStream);
/** A request whose body follows. */
export const post = (id: number, ...more: readonly Field[]) => headers(id, [...GET, ...more]);

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly payload: Buffer;
}

/** Whole frames, and the bytes that are left. */
export function cut(bytes: Buffer): { readonly frames: Frame[]; readonly rest: Buffer } {
  const frames: Frame[] = [];
  let at = 0;
  while (at + FRAME_HEAD <= bytes.length) {
    const end = at + FRAME_HEAD + bytes.readUIntBE(at, 3);
    if (end > bytes.length) break;
    const [type = 0, flags = 0] = bytes.subarray(at + 3, at + 5);
    frames.push({ type, flags, id: bytes.readUInt32BE(at + 5), payload: bytes.subarray(at + FRAME_HEAD, end) });
    at = end;
  }
  return { frames, rest: bytes.subarray(at) };
}

const codeNames: ReadonlyMap<number, string> = new Map(Object.entries(CODE).map(([name, code]) => [code, name]));
const codeName = (payload: Buffer, at: number) => codeNames.get(payload.readUInt32BE(at)) ?? "?";

/** As a line; `status` reads a block of fields. */
export function lineOf({ type, flags, id, payload }: Frame, status: (block: Buffer) => string): string {
  const end = (flags & FLAG.endStream) === 0 ? "" : " end";
  switch (type) {
    case FRAME.data:
      return `data ${id}: ${payload.length}${end}`;
    case FRAME.headers:
      return `headers ${id}: ${(flags & FLAG.endHeaders) === 0 ? "in parts" : status(payload)}${end}`;
    case FRAME.rstStream:
      return `reset ${id}: ${codeName(payload, 0)}`;
    case FRAME.settings:
      return flags === FLAG.ack ? "settings ack" : "settings";
    case FRAME.ping:
      return flags === FLAG.ack ? `ping ack ${payload.toString()}` : "ping";
    case FRAME.goAway:
      return `goaway after ${payload.readUInt32BE(0)}: ${codeName(payload, 4)}`;
    case FRAME.windowUpdate:
      return `window ${id}: +${payload.readUInt32BE(0)}`;
    default:
      return `frame of type ${type}`;
  }
}
