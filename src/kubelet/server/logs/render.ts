/**
 * From blocks of a log file to output: filtered by stream and time, with or without timestamps, up to a number of
 * bytes.
 *
 * 1. A line in parts is shown as one, with the time of its first part.
 * 2. Times only grow: after the first line that is new enough, times are not checked any more.
 * 3. An incomplete line at the end of a block is kept for the next block.
 */
import { parseLogLine, type StreamName } from "./log-line.ts";

const NEWLINE = 0x0a;

export interface LogChoice {
  /** Only lines since then, in milliseconds since the epoch. */
  readonly sinceMs?: number | undefined;
  readonly stream?: StreamName | undefined;
  readonly timestamps?: boolean | undefined;
  readonly limitBytes?: number | undefined;
}

export class LogRenderer {
  readonly #choice: LogChoice;
  #rest: Buffer = Buffer.alloc(0);
  #isYoungEnough: boolean;
  #startsLine = true;
  #left: number;

  constructor(choice: LogChoice) {
    this.#choice = choice;
    this.#isYoungEnough = choice.sinceMs === undefined;
    this.#left = choice.limitBytes ?? Number.POSITIVE_INFINITY;
  }

  /** The byte limit is reached. */
  get isFull(): boolean {
    return this.#left <= 0;
  }

  /** The output of a block. The block may be reused afterwards. */
  render(block: Buffer): Buffer {
    const input = this.#rest.length === 0 ? block : Buffer.concat([this.#rest, block]);
    const pieces: Buffer[] = [];
    let start = 0;
    for (let end = input.indexOf(NEWLINE); end >= 0; end = input.indexOf(NEWLINE, start)) {
      this.#line(input, start, end, pieces);
      start = end + 1;
    }
    this.#rest = start === input.length ? Buffer.alloc(0) : Buffer.from(input.subarray(start));
    return this.#cut(pieces.length === 1 ? Buffer.from(pieces[0] ?? "") : Buffer.concat(pieces));
  }

  /** Another file follows: the rest of an incomplete line is dropped. */
  nextFile(): void {
    this.#rest = Buffer.alloc(0);
  }

  #line(input: Buffer, start: number, end: number, pieces: Buffer[]): void {
    const line = parseLogLine(input, start, end);
    // Not in CRI's format.
    if (line === undefined) return;
    const { timestamps = false, stream } = this.#choice;
    if (!this.#isYoungEnough && !this.#becomesYoungEnough(input, start, line.timeEnd)) return;
    if (stream !== undefined && line.stream !== stream) return;
    if (timestamps && this.#startsLine) pieces.push(input.subarray(start, line.timeEnd + 1));
    // The newline belongs to the line unless the line continues.
    pieces.push(input.subarray(line.contentStart, line.isPartial ? end : end + 1));
    this.#startsLine = !line.isPartial;
  }

  #becomesYoungEnough(input: Buffer, start: number, end: number): boolean {
    this.#isYoungEnough = Date.parse(input.toString("latin1", start, end)) >= (this.#choice.sinceMs ?? 0);
    return this.#isYoungEnough;
  }

  #cut(shown: Buffer): Buffer {
    const taken = shown.length <= this.#left ? shown : shown.subarray(0, this.#left);
    this.#left -= taken.length;
    return taken;
  }
}
