/**
 * The log in the mode `batch`: a thread of its own puts the lines together and writes them, so that the thread that serves requests does not.
 *
 *     push ──► numbers of forms, and what fills them in ──► every tenth of a second ──► thread: lines ──► rotating-file
 *                                                                   ◄── so many are written, or why they are not
 *
 * 1. What was pushed is held as numbers and one text: thousands of events that wait would otherwise be moved at every collection of garbage.
 * 2. So many events may be on their way, and more are lost, are counted and are told.
 * 3. A thread that ends by itself is told, with the events that it had; the next batch has a new one.
 */
import { Worker } from "node:worker_threads";
import type { Clock, Timer } from "#base";
import type { AuditEvent, Listener, Piece } from "./event.ts";
import type { Failed } from "./failures.ts";
import type { Blanks, Form } from "./form.ts";
import { type BatchMessage, FILLED_LENGTH, type LogReply, type LogWorkerData, SPELLED } from "./log-protocol.ts";
import type { RotationLimits } from "./rotating-file.ts";
import { fitting, type Sink, type Truncation } from "./sink.ts";

const GATHER_MS = 100;
/** Of the buffer, what may be gathered before it is handed over: the rest is for what comes meanwhile. */
const GATHERED_PART = 0.25;
/** Texts are joined after so many: as many small ones would be too much for the collector. */
const LOOSE_TEXTS = 512;
/** Then both sides begin a new book of forms. */
const MAX_FORMS = 5_000;

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
  #numbers = new Float64Array(4096);
  #length = 0;
  #loose: string[] = [];
  #texts: string[] = [];
  #textLength = 0;
  #lines: string[] = [];
  #forms: (readonly string[])[] = [];
  /** Stands for what is gathered: texts that were said in it. */
  #batch = {};
  #timer: Timer | undefined;
  /** The event that is being pushed, if it is spelled out. */
  #line = "";
  /** Stands for the forms that the thread knows. */
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
    if (this.#line !== "") this.#putLine();
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

  add(piece: Piece): void {
    this.#line += piece.toString();
  }

  fill(form: Form, blanks: Blanks, name: string, atMs: number): void {
    const { id, target, receivedMs } = blanks;
    if (blanks.batch !== this.#batch) {
      blanks.batch = this.#batch;
      blanks.at = this.#textLength;
      this.#say(id);
      this.#say(target);
    }
    const { at } = blanks;
    const isInTarget = target.endsWith(name);
    const nameAt = isInTarget ? at + id.length + target.length - name.length : this.#textLength;
    if (!isInTarget) this.#say(name);
    const numbers = this.#roomFor(FILLED_LENGTH);
    const i = this.#length;
    numbers[i] = form.book === this.#book ? form.place : this.#note(form);
    numbers[i + 1] = at;
    numbers[i + 2] = id.length;
    numbers[i + 3] = target.length;
    numbers[i + 4] = nameAt;
    numbers[i + 5] = name.length;
    numbers[i + 6] = receivedMs;
    numbers[i + 7] = atMs;
    this.#length = i + FILLED_LENGTH;
  }

  #putLine(): void {
    this.#lines.push(this.#line);
    this.#line = "";
    this.#roomFor(1)[this.#length++] = SPELLED;
  }

  #say(text: string): void {
    this.#textLength += text.length;
    this.#loose.push(text);
  }

  #note(form: Form): number {
    form.book = this.#book;
    form.place = this.#known++;
    this.#forms.push(form.texts);
    return form.place;
  }

  #roomFor(count: number): Float64Array {
    if (this.#length + count > this.#numbers.length) {
      const larger = new Float64Array(this.#numbers.length * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    return this.#numbers;
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
    const numbers = this.#numbers.slice(0, this.#length);
    const message: BatchMessage = { numbers, texts: this.#texts, lines: this.#lines, forms: this.#forms };
    worker.postMessage(message, [numbers.buffer]);
    // Until it has answered, the process stays.
    worker.ref();
    this.#sent.push({ events: this.#events, done: Promise.withResolvers() });
    this.#underWay += this.#events;
    this.#begin();
    if (this.#known >= MAX_FORMS) {
      this.#newBook();
      worker.postMessage("forget");
    }
  }

  #begin(): void {
    this.#events = this.#length = this.#textLength = 0;
    this.#loose = [];
    this.#texts = [];
    this.#lines = [];
    this.#forms = [];
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
