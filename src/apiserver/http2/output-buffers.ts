/**
 * The memory that frames are put together in, used again when the socket has taken them.
 *
 * 1. A buffer belongs to one write from `take` to `giveBack`.
 * 2. Some megabytes are kept, of all connections of a port together.
 *
 * Speed (200 watchers, 32 connections, 2026-11-19): memory of a Buffer is outside of the heap, and V8 collects the
 * whole heap for every 64 MB of it. A watch that is written 100,000 times in a second paid 7 of 15 µs of cpu for that.
 * `output-buffers.test.ts` compares it with fresh memory.
 */

/** The sizes that are kept. What is larger is fresh each time. */
const SIZES = [16 * 1024, 64 * 1024, 320 * 1024] as const;
/** Of each size. */
const MOST_KEPT = 16;

export class OutputBuffers {
  readonly #kept = SIZES.map((): Buffer[] => []);

  /** At least so many bytes, with anything in them. */
  take(bytes: number): Buffer {
    const nth = SIZES.findIndex((size) => bytes <= size);
    if (nth === -1) return Buffer.allocUnsafeSlow(bytes);
    return this.#kept[nth]?.pop() ?? Buffer.allocUnsafeSlow(SIZES[nth] ?? bytes);
  }

  giveBack(buffer: Buffer): void {
    const kept = this.#kept[(SIZES as readonly number[]).indexOf(buffer.length)];
    if (kept !== undefined && kept.length < MOST_KEPT) kept.push(buffer);
  }
}
