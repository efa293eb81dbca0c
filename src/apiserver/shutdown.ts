/**
 * How a server stops, as kube-apiserver documents it:
 *
 *     /readyz fails ──► delay: everything else is served ──► its address leaves the Service `kubernetes`
 *                   ──► GOAWAY and no new connections, or 429 on them
 *                   ──► requests under way end, watches end one after the other ──► the server closes
 *
 * 1. Without options there is no delay.
 * 2. A server that shares its store hands its watches over: each ends with a bookmark of the newest revision, spread
 *    over a short time. Clients go on from there on another server; none has to list again.
 * 3. It always ends: requests under way are awaited no longer than a request may take.
 */
import type { Clock, Logger } from "#base";
import type { Listener } from "./http/listener.ts";
import { RequestGate } from "./pipeline/request-gate.ts";
import { REQUEST_TIMEOUT_MS } from "./pipeline/timeout.ts";
import type { ServingOptions } from "./server-options.ts";
import { WatchDrain } from "./watch/watch-drain.ts";

/** Long enough that clients do not come to the other servers all at once, short enough that nobody notices. */
const HANDOVER_MS = 400;
/** A store that has lost its quorum must not hold up the stop. */
const LEAVE_MS = 2_000;

export interface ShutdownParts {
  /** Takes the address of this server out of the Service `kubernetes`. */
  readonly leave: () => Promise<void>;
  readonly listener: Pick<Listener, "refuse">;
  readonly clock: Clock;
  readonly log: Logger;
}

export class Shutdown {
  readonly #delayMs: number;
  readonly #watchGraceMs: number;
  readonly #requestTimeoutMs: number;
  /** Present if requests are turned away while others are finished. */
  readonly gate: RequestGate | undefined;
  /** Present if watches end one after the other. */
  readonly drain: WatchDrain | undefined;
  #begun = false;

  constructor(
    { shutdown = {}, requestTimeoutMs = REQUEST_TIMEOUT_MS }: ServingOptions = {},
    { sharedStore }: { readonly sharedStore: boolean } = { sharedStore: false },
  ) {
    const { delayMs = 0, sendRetryAfter = false, watchGraceMs = sharedStore ? HANDOVER_MS : 0 } = shutdown;
    this.#delayMs = delayMs;
    this.#watchGraceMs = watchGraceMs;
    this.#requestTimeoutMs = requestTimeoutMs;
    this.gate = sendRetryAfter ? new RequestGate() : undefined;
    this.drain = watchGraceMs > 0 ? new WatchDrain() : undefined;
  }

  /** /readyz fails from now on. */
  get hasBegun(): boolean {
    return this.#begun;
  }

  /** Resolves when the server may close. */
  async run({ leave, listener, clock, log }: ShutdownParts): Promise<void> {
    this.#begun = true;
    if (this.#delayMs > 0) {
      log.info("not ready any more; stopping after a delay", { delayMs: this.#delayMs });
      await clock.sleep(this.#delayMs);
    }
    const left = Promise.withResolvers<void>();
    const timer = clock.timer(LEAVE_MS, left.resolve);
    await Promise.race([leave(), left.promise]);
    timer.cancel();
    if (this.gate === undefined) listener.refuse();
    await Promise.all([this.#requestsEnd(clock, log), this.drain?.drain(this.#watchGraceMs, clock)]);
  }

  async #requestsEnd(clock: Clock, log: Logger): Promise<void> {
    if (this.gate === undefined) return;
    const late = Promise.withResolvers<void>();
    const timer = clock.timer(this.#requestTimeoutMs, () => {
      log.warn("requests are still under way; stopping nevertheless", { afterMs: this.#requestTimeoutMs });
      late.resolve();
    });
    await Promise.race([this.gate.close(), late.promise]);
    timer.cancel();
  }
}
