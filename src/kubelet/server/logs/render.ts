/**
 * From blocks of a log file to what is shown: which lines, with or without their times, up to how many bytes.
 *
 * 1. A line in parts is shown as one; its time is that of its first part.
 * 2. Times only grow: from the first line that is young enough on, none is looked at any more.
 * 3. What a block ends with in the middle of a line is kept for the next one.
 */
import { parseLogLine, type StreamName } from "./log-line.ts";

const NEWLINE = 0x0a;

export interface LogChoice {
  /** Lines from then on, in milliseconds since the epoch. */
  readonly sinceMs?: number;
  readonly stream?: StreamName;
  readonly timestamps?: boolean;
  readonly limitBytes?: number;
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

  /** As many bytes have been shown as may be. */
  get isFull(): boolean {
    return this.#left <= 0;
  }

  /** What is to be shown of the block. It may be used again afterwards. */
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

  /** Another file follows: what was left of the last line of this one never gets its end. */
  nextFile(): void {
    this.#rest = Buffer.alloc(0);
  }

  #line(input: Buffer, start: number, end: number, pieces: Buffer[]): void {
    const line = parseLogLine(input, start, end);
    // Not written by a runtime: there is nothing that could be shown.
    if (line === undefined) return;
    const { timestamps = false, stream } = this.#choice;
    if (!this.#isYoungEnough && !this.#becomesYoungEnough(input, start, line.timeEnd)) return;
    if (stream !== undefined && line.stream !== stream) return;
    if (timestamps && this.#startsLine) pieces.push(input.subarray(start, line.timeEnd + 1));
    // The newline that ends the entry is the line's own, unless the line goes on.
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
