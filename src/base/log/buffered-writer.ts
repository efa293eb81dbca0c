/**
 * Collects text before it is written, to write less often.
 *
 * 1. Text is written when more than `bytes` have come together, and at the latest `everyMs` after it came.
 * 2. `flush` writes what is there, at once. The end of a program calls it.
 */
import type { Clock, Timer } from "../system/clock.ts";

export interface BufferedWriterOptions {
  readonly write: (text: string) => void;
  readonly bytes: number;
  readonly everyMs: number;
  readonly clock: Clock;
}

export class BufferedWriter {
  readonly #options: BufferedWriterOptions;
  #parts: string[] = [];
  #bytes = 0;
  #timer: Timer | undefined;

  constructor(options: BufferedWriterOptions) {
    this.#options = options;
  }

  write(text: string): void {
    const { bytes, everyMs, clock } = this.#options;
    this.#parts.push(text);
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > bytes) this.flush();
    else this.#timer ??= clock.timer(everyMs, () => this.flush());
  }

  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#parts.length === 0) return;
    const text = this.#parts.join("");
    this.#parts = [];
    this.#bytes = 0;
    this.#options.write(text);
  }
}
