/**
 * The part of SPDY/3.1 that a client of a container runtime needs: opening streams, data, half-close, reset.
 *
 *     control frame   1 | version 3 | type | flags | length | …        data frame   stream | flags | length | bytes
 *
 * 1. Headers are compressed with one zlib stream for each connection. Ours has only stored blocks: valid for every
 *    reader, and without state. An empty block after each one makes readers flush.
 * 2. Headers in answers are skipped: a client does not need them.
 */

export const SYN_STREAM = 1;
export const SYN_REPLY = 2;
export const RST_STREAM = 3;
export const PING = 6;
export const GOAWAY = 7;
export const FIN = 0x01;

const VERSION = 0x8003;
const HEAD_BYTES = 8;
const ZLIB_BEGIN = Buffer.from([0x78, 0x01]);
const EMPTY_BLOCK = Buffer.from([0x00, 0x00, 0x00, 0xff, 0xff]);
const MAX_DATA_BYTES = 0xff_ffff;

export interface ControlFrame {
  readonly type: number;
  readonly flags: number;
  readonly payload: Buffer;
}

export interface DataFrame {
  readonly streamId: number;
  readonly flags: number;
  readonly payload: Buffer;
}

export type Frame = ControlFrame | DataFrame;

export function controlFrame({ type, flags, payload }: ControlFrame): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt16BE(VERSION, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt32BE(((flags << 24) | payload.length) >>> 0, 4);
  return Buffer.concat([head, payload]);
}

/** Any number of bytes, in as many frames as needed. */
export function dataFrames({ streamId, flags, payload }: DataFrame): Buffer[] {
  const parts: Buffer[] = [];
  let at = 0;
  do {
    const piece = payload.subarray(at, at + MAX_DATA_BYTES);
    at += piece.length;
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32BE(streamId, 0);
    head.writeUInt32BE((((at === payload.length ? flags : 0) << 24) | piece.length) >>> 0, 4);
    parts.push(head, piece);
  } while (at < payload.length);
  return parts;
}

/** `isFirst`: the first one of the connection. */
export function synStream(streamId: number, headers: Readonly<Record<string, string>>, isFirst: boolean): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt32BE(streamId, 0);
  const block = headerBlock(headers);
  const stored = Buffer.alloc(5);
  stored.writeUInt16LE(block.length, 1);
  stored.writeUInt16LE(~block.length & 0xffff, 3);
  const payload = Buffer.concat([head, ...(isFirst ? [ZLIB_BEGIN] : []), stored, block, EMPTY_BLOCK]);
  return controlFrame({ type: SYN_STREAM, flags: 0, payload });
}

function headerBlock(headers: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(headers);
  return Buffer.concat([
    uint32(entries.length),
    ...entries.flat().flatMap((each) => [uint32(each.length), Buffer.from(each)]),
  ]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/**
 * Splits incoming bytes into frames. A frame that arrives in many pieces is copied a few times in all, not once for
 * each piece: the room doubles.
 */
export class FrameReader {
  /** Begins with the bytes of a frame that is not complete; the rest is room. */
  #pending: Buffer = Buffer.alloc(0);
  #length = 0;
  /** From how many bytes on there is more to read: the head, then all of the frame. */
  #needed = HEAD_BYTES;

  *read(bytes: Buffer): Generator<Frame, void> {
    if (this.#length === 0) this.#keep(bytes, HEAD_BYTES);
    else this.#append(bytes);
    while (this.#length >= this.#needed) {
      const first = this.#pending.readUInt32BE(0);
      const second = this.#pending.readUInt32BE(4);
      const [flags, length] = [second >>> 24, second & MAX_DATA_BYTES];
      const end = HEAD_BYTES + length;
      if (this.#length < end) {
        this.#needed = end;
        return;
      }
      const payload = this.#pending.subarray(HEAD_BYTES, end);
      this.#keep(this.#pending.subarray(end, this.#length), HEAD_BYTES);
      yield first >>> 31 === 1 ? { type: first & 0xffff, flags, payload } : { streamId: first, flags, payload };
    }
  }

  /** Without room: the bytes belong to a chunk or a payload, and are not overwritten. */
  #keep(bytes: Buffer, needed: number): void {
    this.#pending = bytes;
    this.#length = bytes.length;
    this.#needed = needed;
  }

  #append(bytes: Buffer): void {
    const length = this.#length + bytes.length;
    if (length > this.#pending.length) {
      const wider = Buffer.allocUnsafe(Math.max(length, 2 * this.#length));
      this.#pending.copy(wider, 0, 0, this.#length);
      this.#pending = wider;
    }
    bytes.copy(this.#pending, this.#length);
    this.#length = length;
  }
}
