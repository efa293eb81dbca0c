/** How often clients may ask together: a bucket of calls that fills up steadily. */
import type { Clock } from "#base";
import { GrpcError } from "#grpc";

/** Upstream's defaults. */
const PER_SECOND = 100;
const BURST = 10;

export class CallRate {
  readonly #clock: Clock;
  #left = BURST;
  #atMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#atMs = clock.monotonic();
  }

  /** Throws if it is one call too many. */
  take(): void {
    const nowMs = this.#clock.monotonic();
    this.#left = Math.min(BURST, this.#left + ((nowMs - this.#atMs) / 1000) * PER_SECOND);
    this.#atMs = nowMs;
    if (this.#left < 1) throw new GrpcError("RESOURCE_EXHAUSTED", "rejected by rate limit");
    this.#left -= 1;
  }
}
