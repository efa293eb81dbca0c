/**
 * Bytes of a connection, cut into frames.
 *
 * 1. Nothing is copied unless a frame comes in more than one piece.
 * 2. A payload that is longer than what was agreed on is refused by its head, before it is kept.
 */
import { CODE, ConnectionError, FRAME_HEAD, MIN_MAX_FRAME, PREFACE } from "./codes.ts";

/** Takes a frame. Its payload lies in `bytes` from `start` to `end`. */
export type TakeFrame = (type: number, flags: number, id: number, bytes: Buffer, start: number, end: number) => void;

export class FrameReader {
  readonly #take: TakeFrame;
  #rest: Buffer | undefined;
  #greeted = false;

  constructor(take: TakeFrame) {
    this.#take = take;
  }

  /** Throws ConnectionError, and whatever is thrown by who takes frames. */
  read(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = undefined;
    let at = 0;
    if (!this.#greeted) {
      if (!startsAlike(bytes)) throw new ConnectionError(CODE.protocolError, "it does not begin as HTTP/2 does");
      if (bytes.length < PREFACE.length) {
        this.#rest = bytes;
        return;
      }
      this.#greeted = true;
      at = PREFACE.length;
    }
    while (at + FRAME_HEAD <= bytes.length) {
      const length = uint24(bytes, at);
      if (length > MIN_MAX_FRAME) throw new ConnectionError(CODE.frameSizeError, `a frame of ${length} bytes`);
      const start = at + FRAME_HEAD;
      const end = start + length;
      if (end > bytes.length) break;
      this.#take(bytes[at + 3] ?? 0, bytes[at + 4] ?? 0, uint31(bytes, at + 5), bytes, start, end);
      at = end;
    }
    if (at < bytes.length) this.#rest = at === 0 ? bytes : bytes.subarray(at);
  }
}

function startsAlike(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, PREFACE.length);
  return bytes.compare(PREFACE, 0, length, 0, length) === 0;
}

function uint24(bytes: Buffer, at: number): number {
  return ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
}

/** Its first bit means nothing. */
export function uint31(bytes: Buffer, at: number): number {
  return (((bytes[at] ?? 0) & 0x7f) << 24) | uint24(bytes, at + 1);
}
