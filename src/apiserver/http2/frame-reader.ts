/**
 * The bytes of a connection, divided into frames.
 *
 * 1. Nothing is copied unless a frame arrives in several pieces.
 * 2. A payload over SETTINGS_MAX_FRAME_SIZE is refused by its header, before it is buffered.
 */
import { CODE, ConnectionError, FRAME_HEAD, MIN_MAX_FRAME, PREFACE } from "./codes.ts";

/** The payload is `bytes` from `start` to `end`. */
export type OnFrame = (type: number, flags: number, id: number, bytes: Buffer, start: number, end: number) => void;

export class FrameReader {
  readonly #onFrame: OnFrame;
  #rest: Buffer | undefined;
  #greeted = false;

  constructor(onFrame: OnFrame) {
    this.#onFrame = onFrame;
  }

  /** Throws ConnectionError, and what `onFrame` throws. */
  read(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = undefined;
    let at = 0;
    if (!this.#greeted) {
      if (!isPreface(bytes)) throw new ConnectionError(CODE.protocolError, "not the preface of HTTP/2");
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
      this.#onFrame(bytes[at + 3] ?? 0, bytes[at + 4] ?? 0, uint31(bytes, at + 5), bytes, start, end);
      at = end;
    }
    if (at < bytes.length) this.#rest = at === 0 ? bytes : bytes.subarray(at);
  }
}

function isPreface(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, PREFACE.length);
  return bytes.compare(PREFACE, 0, length, 0, length) === 0;
}

function uint24(bytes: Buffer, at: number): number {
  return ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
}

/** The first bit is reserved. */
export function uint31(bytes: Buffer, at: number): number {
  return (((bytes[at] ?? 0) & 0x7f) << 24) | uint24(bytes, at + 1);
}
