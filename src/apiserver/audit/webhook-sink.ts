/**
 * Events to a webhook, as EventLists by POST.
 *
 *     push ──► buffer ──► batch: full, or after a while ──► POST ···► tried again, five times in all
 *
 * 1. The number of waiting events and of batches under way is bounded; more events are lost, counted and reported.
 * 2. Every failure is tried again.
 * 3. When the sink closes, each pending batch is tried once more, without a delay.
 */
import { type BackoffOptions, backoffDelay, type Clock, isAbort, type Random, type Timer } from "#base";
import { type AuditEvent, lineOf } from "./event.ts";
import type { Failed } from "./failures.ts";
import type { PostBytes } from "./post-bytes.ts";
import { fitting, type Mode, type Sink, type Truncation } from "./sink.ts";

const TRIES = 5;
const MAX_UNDER_WAY = 25;
const BEFORE = '{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[';
const AFTER = "]}\n";

export interface BatchSettings {
  /** Events that may wait. */
  readonly bufferSize: number;
  /** Events in one batch. */
  readonly maxSize: number;
  readonly maxWaitMs: number;
  /** Batches in a second, on average and in a burst; undefined: any number. */
  readonly throttle: { readonly qps: number; readonly burst: number } | undefined;
}

export const DEFAULT_BATCH: BatchSettings = {
  bufferSize: 10_000,
  maxSize: 400,
  maxWaitMs: 30_000,
  throttle: { qps: 10, burst: 15 },
};

export interface WebhookSinkOptions {
  readonly mode: Mode;
  readonly post: PostBytes;
  readonly batch: BatchSettings;
  readonly initialBackoffMs: number;
  readonly truncation?: Truncation | undefined;
  readonly failed: Failed;
  readonly clock: Clock;
  readonly random: Random;
}

export class WebhookSink implements Sink {
  readonly mode: Mode;
  readonly #options: WebhookSinkOptions;
  readonly #backoff: BackoffOptions;
  readonly #closing = new AbortController();
  /** Bytes: the objects of an event may change later. */
  #waiting: Buffer[] = [];
  #timer: Timer | undefined;
  readonly #underWay = new Set<Promise<boolean>>();
  #tokens: number;
  #tokensAtMs: number;

  constructor(options: WebhookSinkOptions) {
    const { mode, batch, initialBackoffMs, clock } = options;
    this.mode = mode;
    this.#options = options;
    this.#backoff = { initialMs: initialBackoffMs, maxMs: initialBackoffMs * 1.5 ** TRIES, factor: 1.5, jitter: 0.2 };
    this.#tokens = batch.throttle?.burst ?? Number.POSITIVE_INFINITY;
    this.#tokensAtMs = clock.monotonic();
  }

  push(event: AuditEvent): void {
    const { batch, truncation, failed } = this.#options;
    const fit = fitting(event, truncation);
    if (fit === undefined) failed("truncate", new Error("an event is too large even without its objects"), 1);
    else if (this.#closing.signal.aborted) failed("buffered", new Error("audit has ended"), 1);
    else if (this.#waiting.length >= batch.bufferSize)
      failed("buffered", new Error("the buffer of audit events is full"), 1);
    else this.#enqueue(Buffer.concat(lineOf(fit)));
  }

  #enqueue(event: Buffer): void {
    const { batch } = this.#options;
    this.#waiting.push(event);
    if (this.mode !== "batch" || this.#waiting.length >= batch.maxSize) this.#send();
    else this.#wake(batch.maxWaitMs);
  }

  async written(): Promise<boolean> {
    return (await Promise.all(this.#underWay)).every((fine) => fine);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#timer?.cancel();
    this.#timer = undefined;
    while (this.#waiting.length > 0) this.#start(this.#take());
    await Promise.all(this.#underWay);
    this.#options.post.close();
  }

  /** Sends the batches that are due and that the throttle allows. */
  #send(): void {
    const { batch } = this.#options;
    this.#timer?.cancel();
    this.#timer = undefined;
    // Where requests wait for their events, the number of requests bounds the batches.
    while (this.#waiting.length > 0 && (this.mode !== "batch" || this.#underWay.size < MAX_UNDER_WAY)) {
      const waitMs = this.#tokenWaitMs();
      if (waitMs > 0) {
        this.#wake(waitMs);
        return;
      }
      this.#tokens--;
      this.#start(this.#take());
      if (this.mode === "batch" && this.#waiting.length < batch.maxSize) break;
    }
    if (this.#waiting.length > 0) this.#wake(batch.maxWaitMs);
  }

  #wake(ms: number): void {
    this.#timer ??= this.#options.clock.timer(ms, () => {
      this.#timer = undefined;
      this.#send();
    });
  }

  #tokenWaitMs(): number {
    const { clock, batch } = this.#options;
    if (batch.throttle === undefined || this.mode !== "batch") return 0;
    const { qps, burst } = batch.throttle;
    const now = clock.monotonic();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#tokensAtMs) * qps) / 1000);
    this.#tokensAtMs = now;
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) * 1000) / qps);
  }

  /** The next batch, within its limits of events and bytes. */
  #take(): readonly Buffer[] {
    const { batch, truncation } = this.#options;
    let count = Math.min(batch.maxSize, this.#waiting.length);
    if (truncation !== undefined) {
      let bytes = 0;
      count = 0;
      for (const event of this.#waiting) {
        bytes += event.length;
        if (count === batch.maxSize || (count > 0 && bytes > truncation.maxBatchBytes)) break;
        count++;
      }
    }
    return this.#waiting.splice(0, count);
  }

  #start(events: readonly Buffer[]): void {
    const sending = this.#deliver(events);
    this.#underWay.add(sending);
    void sending.finally(() => {
      this.#underWay.delete(sending);
      if (this.#waiting.length >= this.#options.batch.maxSize && !this.#closing.signal.aborted) this.#send();
    });
  }

  async #deliver(events: readonly Buffer[]): Promise<boolean> {
    const { clock, random, post, failed } = this.#options;
    const body = bodyOf(events);
    const { signal } = this.#closing;
    for (let tries = 1; ; tries++) {
      try {
        await post.send(body);
        return true;
      } catch (error) {
        if (tries === TRIES || signal.aborted) {
          failed("webhook", error, events.length);
          return false;
        }
      }
      await clock.sleep(backoffDelay(this.#backoff, tries - 1, random), signal).catch((error: unknown) => {
        if (!isAbort(error, signal)) throw error;
      });
    }
  }
}

function bodyOf(events: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [Buffer.from(BEFORE)];
  for (const [i, event] of events.entries()) {
    if (i > 0) parts.push(Buffer.from(","));
    parts.push(event);
  }
  return Buffer.concat([...parts, Buffer.from(AFTER)]);
}
