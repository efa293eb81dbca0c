/** The payloads of frames. */
import { broken, FLAG, wrongSize } from "./codes.ts";
import { uint31 } from "./frame-reader.ts";

export function settingsPayload(all: readonly (readonly [number, number])[]): Buffer {
  const payload = Buffer.alloc(all.length * 6);
  all.forEach(([setting, value], i) => {
    payload.writeUInt16BE(setting, i * 6);
    payload.writeUInt32BE(value, i * 6 + 2);
  });
  return payload;
}

export function goAwayPayload(lastId: number, code: number): Buffer {
  const payload = Buffer.allocUnsafe(8);
  payload.writeUInt32BE(lastId, 0);
  payload.writeUInt32BE(code, 4);
  return payload;
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value, 0);
  return bytes;
}

/** Where the payload is without its padding. */
export function unpadded(flags: number, bytes: Buffer, start: number, end: number): { at: number; to: number } {
  if ((flags & FLAG.padded) === 0) return { at: start, to: end };
  if (start === end) throw wrongSize("a padded frame");
  const to = end - (bytes[start] ?? 0);
  if (to < start + 1) throw broken("padding longer than the payload");
  return { at: start + 1, to };
}

/** Priorities are ignored, but a stream cannot depend on itself (RFC 7540, 5.3.1). */
export function checkDependency(id: number, bytes: Buffer, at: number): void {
  if (uint31(bytes, at) === id) throw broken("a stream that depends on itself");
}
