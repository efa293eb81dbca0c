/**
 * Events as lines of JSON, in a file or on the standard output.
 *
 * 1. What comes in one turn of the event loop is one write, and so is what comes while that is under way.
 * 2. In the mode `batch` so many may wait, and more are lost. In the others requests wait, so there never are many.
 */
import { nextTurn } from "#base";
import type { AuditEvent } from "./event.ts";
import type { Failed } from "./failures.ts";
import { fitting, type Mode, type Sink, type Truncation } from "./sink.ts";

const NEWLINE = Buffer.from("\n");
const PIECE_CHARS = 64 * 1024;

export interface LineTarget {
  /** Each is one or more whole lines, with their ends. */
  write(lines: readonly Buffer[]): Promise<void>;
  close(): Promise<void>;
}

export interface LogSinkOptions {
  readonly mode: Mode;
  readonly target: LineTarget;
  /** In the mode `batch`. */
  readonly bufferSize: number;
  readonly truncation?: Truncation | undefined;
  readonly failed: Failed;
}

/** What is written at once. */
interface Batch {
  readonly events: AuditEvent[];
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
    if (this.mode === "batch" && (this.#next?.events.length ?? 0) >= bufferSize) {
      failed("buffered", new Error("the buffer of audit events is full"), 1);
      return;
    }
    const fit = fitting(event, truncation);
    if (fit === undefined) {
      failed("truncate", new Error("an event is too large even without its objects"), 1);
      return;
    }
    this.#next ??= { events: [], done: Promise.withResolvers() };
    this.#next.events.push(fit);
    this.#draining ??= this.#drain();
  }

  async written(): Promise<boolean> {
    return (this.#next ?? this.#writing)?.done.promise ?? true;
  }

  async close(): Promise<void> {
    await this.#draining;
    await this.#options.target.close();
  }

  /** Until nothing waits any more. */
  async #drain(): Promise<void> {
    await nextTurn();
    for (let batch = this.#take(); batch !== undefined; batch = this.#take()) {
      const { events, done } = batch;
      try {
        await this.#options.target.write(piecesOf(events));
        done.resolve(true);
      } catch (error) {
        this.#options.failed("log", error, events.length);
        done.resolve(false);
      }
    }
    this.#draining = undefined;
  }

  #take(): Batch | undefined {
    this.#writing = this.#next;
    this.#next = undefined;
    return this.#writing;
  }
}

/** Whole lines, many of them in a piece: most events are short texts. */
function piecesOf(events: readonly AuditEvent[]): readonly Buffer[] {
  const written: Buffer[] = [];
  let text = "";
  const flush = () => {
    if (text !== "") written.push(Buffer.from(text));
    text = "";
  };
  for (const { pieces } of events) {
    const [only] = pieces;
    if (pieces.length === 1 && typeof only === "string") {
      text += `${only}\n`;
      if (text.length >= PIECE_CHARS) flush();
    } else {
      flush();
      written.push(Buffer.concat([...pieces.map(bytesOf), NEWLINE]));
    }
  }
  flush();
  return written;
}

function bytesOf(piece: string | Buffer): Buffer {
  return typeof piece === "string" ? Buffer.from(piece) : piece;
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
