/** How often a client may do what costs the server more than the client: in a burst, and in a second. */
import { type Clock, TokenBucket } from "#base";

const RATE = { perSecond: 100, burst: 1_000 };

export class AbuseBudget extends TokenBucket {
  constructor(clock: Clock) {
    super(RATE, clock);
  }
}
