/** The few frames of HTTP/2 that a load generator needs. */
import type { Call } from "./connection.ts";

export const DATA = 0;
export const HEADERS = 1;
export const RST_STREAM = 3;
export const SETTINGS = 4;
export const PING = 6;
export const GOAWAY = 7;
export const WINDOW_UPDATE = 8;
export const END_STREAM = 1;
export const END_HEADERS = 4;
export const ACK = 1;
export const FRAME_HEAD = 9;
const METHODS: Record<string, Buffer> = { GET: Buffer.of(0x82), POST: Buffer.of(0x83) };

export function frame(type: number, flags: number, id: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const bytes = Buffer.alloc(FRAME_HEAD + payload.length);
  payload.copy(bytes, writeFrameHead(bytes, 0, type, flags, id, payload.length));
  return bytes;
}

/** Returns where the payload begins. */
export function writeFrameHead(
  target: Buffer,
  at: number,
  type: number,
  flags: number,
  id: number,
  length: number,
): number {
  target.writeUIntBE(length, at, 3);
  target[at + 3] = type;
  target[at + 4] = flags;
  target.writeUInt32BE(id, at + 5);
  return at + FRAME_HEAD;
}

/** Names by their index in HPACK's static table, values as they are. */
export function headerBlock({ method, path, contentType, gzip }: Call): Buffer {
  const parts = [
    METHODS[method] ?? literal([0x02], method),
    Buffer.of(0x87),
    literal([0x04], path),
    literal([0x01], "localhost"),
  ];
  parts.push(literal([0x0f, 0x2b], "bench"));
  // "accept-encoding: gzip, deflate" of the static table.
  if (gzip === true) parts.push(Buffer.of(0x90));
  if (contentType !== undefined) parts.push(literal([0x0f, 0x10], contentType));
  return Buffer.concat(parts);
}

function literal(name: readonly number[], value: string): Buffer {
  const bytes = Buffer.from(value);
  const length: number[] = bytes.length < 127 ? [bytes.length] : [127];
  if (bytes.length >= 127) {
    let rest = bytes.length - 127;
    for (; rest >= 128; rest >>>= 7) length.push((rest & 127) | 128);
    length.push(rest);
  }
  return Buffer.concat([Buffer.from([...name, ...length]), bytes]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
