/**
 * Events as lines of JSON, in a file or on the standard output.
 *
 * 1. Events of one turn of the event loop are one write, and so are events that come during a write.
 * 2. In mode `batch` at most `bufferSize` events wait; more are lost. In the other modes requests wait for their
 *    events, so there are few.
 * 3. In mode `batch` events are gathered for a tenth of a second: a write in every turn of a busy server would cost
 *    more than its events.
 */
import { type Clock, nextTurn } from "#base";
import { type AuditEvent, lineOf } from "./event.ts";
import type { Failed } from "./failures.ts";
import { fitting, type Mode, type Sink, type Truncation } from "./sink.ts";

const NEWLINE = Buffer.from("\n");
const GATHER_MS = 100;
/** The part of the buffer that is gathered before it is written: the rest is for events that come meanwhile. */
const GATHERED_PART = 0.1;

export interface LineTarget {
  /** Each with its line feed. */
  write(lines: readonly Buffer[]): Promise<void>;
  close(): Promise<void>;
}

export interface LogSinkOptions {
  readonly mode: Mode;
  readonly target: LineTarget;
  /** In mode `batch`. */
  readonly bufferSize: number;
  readonly truncation?: Truncation | undefined;
  readonly failed: Failed;
  readonly clock: Clock;
}

/** Events of one write. */
interface Batch {
  /** Bytes, not strings: strings of many parts would be copied, part by part, at every garbage collection. */
  readonly lines: Buffer[];
  /** Resolves when the batch is to be written. */
  readonly due: PromiseWithResolvers<void>;
  readonly done: PromiseWithResolvers<boolean>;
}

export class LogSink implements Sink {
  readonly mode: Mode;
  readonly #options: LogSinkOptions;
  /** Takes events until its write begins. */
  #next: Batch | undefined;
  #writing: Batch | undefined;
  #draining: Promise<void> | undefined;

  constructor(options: LogSinkOptions) {
    this.mode = options.mode;
    this.#options = options;
  }

  push(event: AuditEvent): void {
    const { bufferSize, truncation, failed } = this.#options;
    if (this.mode === "batch" && (this.#next?.lines.length ?? 0) >= bufferSize) {
      failed("buffered", new Error("the buffer of audit events is full"), 1);
      return;
    }
    const fit = fitting(event, truncation);
    if (fit === undefined) {
      failed("truncate", new Error("an event is too large even without its objects"), 1);
      return;
    }
    this.#next ??= { lines: [], due: Promise.withResolvers(), done: Promise.withResolvers() };
    this.#next.lines.push(Buffer.concat([...lineOf(fit), NEWLINE]));
    this.#draining ??= this.#drain();
    if (this.#next.lines.length >= bufferSize * GATHERED_PART) this.#next.due.resolve();
  }

  async written(): Promise<boolean> {
    this.#next?.due.resolve();
    return (this.#next ?? this.#writing)?.done.promise ?? true;
  }

  async close(): Promise<void> {
    this.#next?.due.resolve();
    await this.#draining;
    await this.#options.target.close();
  }

  /** Writes until nothing waits. */
  async #drain(): Promise<void> {
    const gathers = this.mode === "batch";
    if (!gathers) await nextTurn();
    while (this.#next !== undefined) {
      if (gathers) await this.#gathered(this.#next);
      const { lines, done } = this.#next;
      this.#writing = this.#next;
      this.#next = undefined;
      try {
        await this.#options.target.write(lines);
        done.resolve(true);
      } catch (error) {
        this.#options.failed("log", error, lines.length);
        done.resolve(false);
      }
    }
    this.#writing = undefined;
    this.#draining = undefined;
  }

  async #gathered({ due }: Batch): Promise<void> {
    const timer = this.#options.clock.timer(GATHER_MS, due.resolve);
    await due.promise;
    timer.cancel();
  }
}

/** The process's own standard output; it stays open. */
export function standardOutput(stream: NodeJS.WritableStream = process.stdout): LineTarget {
  return {
    write: (lines) =>
      new Promise((resolve, reject) => {
        stream.write(Buffer.concat(lines), (error) => (error ? reject(error) : resolve()));
      }),
    close: async () => {},
  };
}
