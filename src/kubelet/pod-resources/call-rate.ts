/** How often clients may ask together: a bucket of calls that fills up steadily. */
import { type Clock, TokenBucket } from "#base";
import { GrpcError } from "#grpc";

/** Upstream's defaults. */
const RATE = { perSecond: 100, burst: 10 };

export class CallRate {
  readonly #calls: TokenBucket;

  constructor(clock: Clock) {
    this.#calls = new TokenBucket(RATE, clock);
  }

  /** Throws if it is one call too many. */
  take(): void {
    if (!this.#calls.take()) throw new GrpcError("RESOURCE_EXHAUSTED", "rejected by rate limit");
  }
}
