/**
 * The log in the mode `batch`: a thread of its own puts the lines together and writes them, so that the thread that serves requests does not.
 *
 *     push ──► numbers of phrases, and the texts between them ──► every tenth of a second ──► thread: lines ──► rotating-file
 *                                                                          ◄── so many are written, or why they are not
 *
 * 1. What was pushed is held as numbers and one text: thousands of events that wait would otherwise be moved at every collection of garbage.
 * 2. So many events may be on their way, and more are lost, are counted and are told.
 * 3. A thread that ends by itself is told, with the events that it had; the next batch has a new one.
 */
import { Worker } from "node:worker_threads";
import type { Clock, Timer } from "#base";
import type { AuditEvent, Listener, Piece } from "./event.ts";
import type { Failed } from "./failures.ts";
import { type BatchMessage, END_OF_LINE, type LogReply, type LogWorkerData, TEXT, TIME } from "./log-protocol.ts";
import { Moment, Phrase, Said } from "./phrase.ts";
import type { RotationLimits } from "./rotating-file.ts";
import { fitting, type Sink, type Truncation } from "./sink.ts";

const GATHER_MS = 100;
/** Of the buffer, what may be gathered before it is handed over: the rest is for what comes meanwhile. */
const GATHERED_PART = 0.25;
/** Texts are joined after so many: as many small ones would be too much for the collector. */
const LOOSE_TEXTS = 512;
/** Then both sides begin a new book of phrases. */
const MAX_PHRASES = 10_000;

/** Beside the sources it is one of them, in a bundle an entry of its own. */
const WORKER = new URL(import.meta.url.endsWith(".ts") ? "./log-worker.ts" : "./audit-log-worker.mjs", import.meta.url);

export interface BatchLogOptions {
  readonly path: string;
  readonly limits: RotationLimits;
  readonly bufferSize: number;
  readonly truncation?: Truncation | undefined;
  readonly failed: Failed;
  readonly clock: Clock;
  /** Default: one that writes the file. */
  readonly startWorker?: (data: LogWorkerData) => Worker;
}

interface Sent {
  readonly events: number;
  readonly done: PromiseWithResolvers<boolean>;
}

export class BatchLog implements Sink, Listener {
  readonly mode = "batch";
  readonly #options: BatchLogOptions;
  #worker: Worker | undefined;
  #closing = false;
  /** Handed over and not yet answered, in order. */
  readonly #sent: Sent[] = [];
  #underWay = 0;
  // What is gathered.
  #events = 0;
  #ops = new Int32Array(4096);
  #length = 0;
  #loose: string[] = [];
  #texts: string[] = [];
  #textLength = 0;
  #phrases: string[] = [];
  #sinceMs = Number.NaN;
  /** Stands for what is gathered: texts that were said in it. */
  #batch = {};
  #timer: Timer | undefined;
  /** Heard, and not put down yet: another one may follow. */
  #phrase: Phrase | undefined;
  /** Stands for the phrases that the thread knows. */
  #book = {};
  #known = 0;

  constructor(options: BatchLogOptions) {
    this.#options = options;
    this.#worker = this.#start();
  }

  push(event: AuditEvent): void {
    const { bufferSize, truncation, failed, clock } = this.#options;
    if (this.#events + this.#underWay >= bufferSize) {
      failed("buffered", new Error("the buffer of audit events is full"), 1);
      return;
    }
    const fit = truncation === undefined ? event : fitting(event, truncation);
    if (fit === undefined) {
      failed("truncate", new Error("an event is too large even without its objects"), 1);
      return;
    }
    fit.tell(this);
    this.#putPhrase();
    this.#put(END_OF_LINE);
    if (this.#loose.length >= LOOSE_TEXTS) this.#join();
    if (++this.#events >= bufferSize * GATHERED_PART) this.#send();
    else this.#timer ??= clock.timer(GATHER_MS, () => this.#send());
  }

  async written(): Promise<boolean> {
    this.#send();
    const outcomes = await Promise.all(this.#sent.map(({ done }) => done.promise));
    return outcomes.every((fine) => fine);
  }

  async close(): Promise<void> {
    await this.written();
    this.#closing = true;
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = Promise.withResolvers<unknown>();
    worker.once("exit", ended.resolve);
    worker.ref();
    worker.postMessage("close");
    await ended.promise;
  }

  /** A piece of the event that is being pushed. */
  add(piece: Piece): void {
    if (piece instanceof Phrase) {
      this.#phrase = this.#phrase === undefined ? piece : this.#phrase.followedBy(piece);
      return;
    }
    this.#putPhrase();
    if (piece instanceof Said) this.#say(piece);
    else if (piece instanceof Moment) {
      if (Number.isNaN(this.#sinceMs)) this.#sinceMs = piece.ms;
      this.#put(TIME);
      this.#put(piece.ms - this.#sinceMs);
    } else this.#addText(typeof piece === "string" ? piece : piece.toString());
  }

  #putPhrase(): void {
    const phrase = this.#phrase;
    if (phrase === undefined) return;
    this.#phrase = undefined;
    this.#put(phrase.book === this.#book ? phrase.place : this.#note(phrase));
  }

  #say(said: Said): void {
    if (said.batch === this.#batch) {
      this.#putText(said.at, said.text.length);
      return;
    }
    said.batch = this.#batch;
    said.at = this.#textLength;
    this.#addText(said.text);
  }

  #addText(text: string): void {
    this.#putText(this.#textLength, text.length);
    this.#textLength += text.length;
    this.#loose.push(text);
  }

  #putText(at: number, length: number): void {
    this.#put(TEXT);
    this.#put(at);
    this.#put(length);
  }

  #put(op: number): void {
    if (this.#length === this.#ops.length) this.#grow();
    this.#ops[this.#length++] = op;
  }

  #note(phrase: Phrase): number {
    phrase.book = this.#book;
    phrase.place = this.#known++;
    this.#phrases.push(phrase.text);
    return phrase.place;
  }

  #grow(): void {
    const larger = new Int32Array(this.#ops.length * 2);
    larger.set(this.#ops);
    this.#ops = larger;
  }

  #join(): void {
    this.#texts.push(this.#loose.join(""));
    this.#loose = [];
  }

  #send(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#events === 0) return;
    this.#join();
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const ops = this.#ops.slice(0, this.#length);
    const message: BatchMessage = {
      events: this.#events,
      ops,
      texts: this.#texts,
      phrases: this.#phrases,
      sinceMs: this.#sinceMs,
    };
    worker.postMessage(message, [ops.buffer]);
    // Until it has answered, the process stays.
    worker.ref();
    this.#sent.push({ events: this.#events, done: Promise.withResolvers() });
    this.#underWay += this.#events;
    this.#begin();
    if (this.#known >= MAX_PHRASES) {
      this.#newBook();
      worker.postMessage("forget");
    }
  }

  #begin(): void {
    this.#events = this.#length = this.#textLength = 0;
    this.#loose = [];
    this.#texts = [];
    this.#phrases = [];
    this.#sinceMs = Number.NaN;
    this.#batch = {};
  }

  #newBook(): void {
    this.#book = {};
    this.#known = 0;
  }

  #start(): Worker {
    const { path, limits, startWorker = (workerData) => new Worker(WORKER, { workerData }) } = this.#options;
    const worker = startWorker({ path, limits });
    worker.unref();
    let why: unknown = new Error("the thread that writes the audit log has ended");
    worker.on("message", ({ error }: LogReply) => this.#answered(error));
    worker.on("error", (error) => {
      why = error;
    });
    worker.once("exit", () => this.#ended(worker, why));
    return worker;
  }

  #answered(error: string | undefined): void {
    const batch = this.#sent.shift();
    if (batch === undefined) return;
    this.#underWay -= batch.events;
    if (this.#sent.length === 0) this.#worker?.unref();
    if (error !== undefined) this.#options.failed("log", new Error(error), batch.events);
    batch.done.resolve(error === undefined);
  }

  #ended(worker: Worker, why: unknown): void {
    if (this.#worker === worker) this.#worker = undefined;
    if (this.#closing) return;
    // What is gathered was said in words that only this thread knows.
    const lost = this.#underWay + this.#events;
    for (const { done } of this.#sent.splice(0)) done.resolve(false);
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#underWay = 0;
    this.#begin();
    this.#newBook();
    this.#options.failed("log", why, lost);
  }
}
