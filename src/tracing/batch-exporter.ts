/**
 * Collects finished spans and sends them in batches.
 *
 *     spans ──► queue (bounded) ──► batch ──► sender ──► collector
 *                  └─ full: dropped             └─ later: again after a backoff, for a minute at most
 *
 * 1. Adding a span never waits: beyond the limit spans are dropped, and counted.
 * 2. One batch is under way at a time. One that is refused, or not taken within RETRY_MS, is dropped and counted.
 * 3. `close` sends what waits, within CLOSE_MS.
 */
import { Backoff, type Clock, type Counter, childController, isAbort, type Logger, type Random } from "#base";
import { type ExportedSpan, otlpRequest } from "./otlp-request.ts";
import type { Sender, SendOutcome } from "./sender.ts";
import type { Resource, SpanData, SpanSink } from "./span-data.ts";

/** The defaults of OpenTelemetry's batch processor. */
const MAX_WAITING = 2048;
const MAX_BATCH = 512;
export const PERIOD_MS = 5000;
const RETRY_MS = 60_000;
const BACKOFF = { initialMs: 1000, maxMs: 10_000, jitter: 0.5 };
const CLOSE_MS = 5000;

export interface BatchExporterOptions {
  readonly sender: Sender;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly counts: SpanCounts;
}

/** Spans by what became of them. */
export interface SpanCounts {
  readonly exported: Counter;
  /** The queue was full. */
  readonly dropped: Counter;
  /** The collector refused them, or was away. */
  readonly failed: Counter;
}

export class BatchExporter implements SpanSink {
  readonly #options: BatchExporterOptions;
  readonly #ending = childController();
  #waiting: ExportedSpan[] = [];
  #sending: Promise<void> | undefined;
  #dueAtMs = Number.POSITIVE_INFINITY;
  #hasFailed = false;

  constructor(options: BatchExporterOptions) {
    this.#options = options;
  }

  add(resource: Resource, span: SpanData): void {
    const { clock, counts } = this.#options;
    if (this.#waiting.length >= MAX_WAITING || this.#ending.signal.aborted) {
      counts.dropped.inc();
      return;
    }
    if (this.#waiting.push({ resource, span }) === 1) this.#dueAtMs = clock.monotonic() + PERIOD_MS;
    if (this.#waiting.length >= MAX_BATCH) this.#begin();
  }

  /** Sends what has waited for long enough. Called regularly. */
  tick(): void {
    if (this.#options.clock.monotonic() >= this.#dueAtMs) this.#begin();
  }

  /** Resolves when nothing waits. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#sending !== undefined) {
      this.#begin();
      await this.#sending;
    }
  }

  async close(): Promise<void> {
    const { clock, sender, counts } = this.#options;
    const timer = clock.timer(CLOSE_MS, () => this.#ending.abort(new Error("the exporter closes")));
    await this.flush();
    timer.cancel();
    this.#ending.abort(new Error("the exporter is closed"));
    this.#ending[Symbol.dispose]();
    counts.dropped.inc(this.#waiting.length);
    sender.close();
  }

  #begin(): void {
    if (this.#sending !== undefined) return;
    this.#sending = this.#send().finally(() => {
      this.#sending = undefined;
      if (this.#waiting.length >= MAX_BATCH) this.#begin();
    });
  }

  async #send(): Promise<void> {
    const { counts, clock } = this.#options;
    const batch = this.#waiting.splice(0, MAX_BATCH);
    this.#dueAtMs = this.#waiting.length === 0 ? Number.POSITIVE_INFINITY : clock.monotonic() + PERIOD_MS;
    if (batch.length === 0) return;
    const outcome = await this.#sent(otlpRequest(batch));
    this.#report(outcome);
    (outcome.kind === "sent" ? counts.exported : counts.failed).inc(batch.length);
  }

  async #sent(request: Buffer): Promise<SendOutcome> {
    const { sender, clock, random } = this.#options;
    const { signal } = this.#ending;
    const backoff = new Backoff(BACKOFF, random);
    const untilMs = clock.monotonic() + RETRY_MS;
    for (;;) {
      if (signal.aborted) return { kind: "refused", why: "the process ends" };
      const outcome = await sender.send(request, signal);
      if (outcome.kind !== "later") return outcome;
      this.#report(outcome);
      const waitMs = Math.max(backoff.next(), outcome.afterMs ?? 0);
      if (clock.monotonic() + waitMs > untilMs) return outcome;
      try {
        await clock.sleep(waitMs, signal);
      } catch (error) {
        if (!isAbort(error, signal)) throw error;
      }
    }
  }

  /** One line when sending begins to fail, and one when it works again. */
  #report(outcome: SendOutcome): void {
    const { log } = this.#options;
    const failed = outcome.kind !== "sent";
    if (failed === this.#hasFailed) return;
    this.#hasFailed = failed;
    if (outcome.kind === "sent") log.info("traces are exported again");
    else log.warn("traces cannot be exported; spans are dropped if that lasts", { reason: outcome.why });
  }
}
