/**
 * The log in mode `batch`: a thread of its own makes and writes the lines (ADR 0014).
 *
 *     push ──► batch: templates by number, with their values ···► thread: lines ══► rotating-file
 *                                                            ◄── written, or why not
 *
 * 1. At most `bufferSize` events are pending; more are lost, counted and reported.
 * 2. A batch is sent after a tenth of a second; on a busy server it waits for more events, for up to a second: the less
 *    often the thread interrupts the serving thread, the more requests that serves.
 * 3. The exit of the thread is reported together with the events that it had; the next batch starts a new one.
 */
import { Worker } from "node:worker_threads";
import type { Clock, Timer } from "#base";
import type { AuditEvent, LineReceiver, Piece } from "./event.ts";
import { EventBatch, TemplateNumbers } from "./event-batch.ts";
import type { Failed } from "./failures.ts";
import type { LineTemplate, LineValues } from "./line-template.ts";
import type { LogReply, LogWorkerData } from "./log-protocol.ts";
import type { RotationLimits } from "./rotating-file.ts";
import { fitting, type Sink, type Truncation } from "./sink.ts";

const GATHER_MS = 100;
const MANY = 2_000;
const LONGEST_MS = 1_000;
/** The part of the buffer that is gathered before it is sent: the rest is for events that come meanwhile. */
const GATHERED_PART = 0.25;
/** Then templates are numbered from 0 again. */
const MAX_TEMPLATES = 5_000;

/** A source file beside this one, or an entry of its own in the bundle. */
const WORKER = new URL(import.meta.url.endsWith(".ts") ? "./log-worker.ts" : "./audit-log-worker.mjs", import.meta.url);

export interface BatchLogOptions {
  readonly path: string;
  readonly limits: RotationLimits;
  readonly bufferSize: number;
  readonly truncation?: Truncation | undefined;
  readonly failed: Failed;
  readonly clock: Clock;
  /** Default: a thread that writes the file. */
  readonly startWorker?: (data: LogWorkerData) => Worker;
}

interface Sent {
  readonly events: number;
  readonly done: PromiseWithResolvers<boolean>;
}

export class BatchLog implements Sink, LineReceiver {
  readonly mode = "batch";
  readonly #options: BatchLogOptions;
  #worker: Worker | undefined;
  #closing = false;
  /** Batches without a reply, in order. */
  readonly #sent: Sent[] = [];
  #underWay = 0;
  #numbering = new TemplateNumbers();
  #batch: EventBatch;
  #timer: Timer | undefined;
  /** How long the batch has been gathered. */
  #waitedMs = 0;
  /** The event that is being pushed, as far as it is written piece by piece. */
  #line = "";

  constructor(options: BatchLogOptions) {
    this.#options = options;
    this.#batch = new EventBatch(this.#numbering);
    this.#worker = this.#start();
  }

  push(event: AuditEvent): void {
    const { bufferSize, truncation, failed, clock } = this.#options;
    const batch = this.#batch;
    if (batch.events + this.#underWay >= bufferSize) {
      failed("buffered", new Error("the buffer of audit events is full"), 1);
      return;
    }
    const fit = truncation === undefined ? event : fitting(event, truncation);
    if (fit === undefined) {
      failed("truncate", new Error("an event is too large even without its objects"), 1);
      return;
    }
    fit.writeTo(this);
    if (this.#line !== "") {
      batch.addLine(this.#line);
      this.#line = "";
    }
    if (batch.events >= bufferSize * GATHERED_PART) this.#send();
    else this.#timer ??= clock.timer(GATHER_MS, () => this.#moment());
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

  piece(piece: Piece): void {
    this.#line += piece.toString();
  }

  template(template: LineTemplate, values: LineValues, name: string, atMs: number): void {
    this.#batch.add(template, values, name, atMs);
  }

  #moment(): void {
    this.#waitedMs += GATHER_MS;
    if (this.#batch.events < MANY || this.#waitedMs >= LONGEST_MS) this.#send();
    else this.#timer = this.#options.clock.timer(GATHER_MS, () => this.#moment());
  }

  #send(): void {
    this.#rest();
    const { events } = this.#batch;
    if (events === 0) return;
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const { message } = this.#batch;
    worker.postMessage(message, [message.numbers.buffer, message.text.buffer]);
    // The process stays until the thread has replied.
    worker.ref();
    this.#sent.push({ events, done: Promise.withResolvers() });
    this.#underWay += events;
    if (this.#numbering.assigned >= MAX_TEMPLATES) {
      this.#numbering = new TemplateNumbers();
      worker.postMessage("forget");
    }
    this.#batch = new EventBatch(this.#numbering);
  }

  #rest(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#waitedMs = 0;
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
    // The current batch refers to templates that only this thread knew.
    const lost = this.#underWay + this.#batch.events;
    for (const { done } of this.#sent.splice(0)) done.resolve(false);
    this.#rest();
    this.#underWay = 0;
    this.#numbering = new TemplateNumbers();
    this.#batch = new EventBatch(this.#numbering);
    this.#options.failed("log", why, lost);
  }
}
