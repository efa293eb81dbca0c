/** The queues of a level with waiting requests, and which of them is served next. */
import type { Queue } from "./queue.ts";
import { Ticket } from "./ticket.ts";

/** The virtual times of the last dispatch, for metrics. */
export interface LastDispatch {
  readonly r: number;
  readonly s: number;
  readonly bounds: readonly [number, number];
  readonly discounted: readonly [number, number];
}

export class WaitingQueues {
  readonly #queues = new Set<Queue>();
  /** R, S, and the bounds of `lastDispatch`. NaN: there was no dispatch. */
  readonly #last = new Float64Array(6).fill(Number.NaN);

  [Symbol.iterator](): Iterator<Queue> {
    return this.#queues.values();
  }

  add(queue: Queue): void {
    this.#queues.add(queue);
  }

  delete(queue: Queue): void {
    this.#queues.delete(queue);
  }

  get lastDispatch(): LastDispatch | undefined {
    const [r = Number.NaN, s = 0, low = 0, high = 0, discountedLow = 0, discountedHigh = 0] = this.#last;
    if (Number.isNaN(r)) return undefined;
    return { r, s, bounds: [low, high], discounted: [discountedLow, discountedHigh] };
  }

  /**
   * The queue whose oldest request would finish first; of equal ones, the one that has waited longest for its service.
   */
  next(r: number): Queue | undefined {
    let next: Queue | undefined;
    let earliest = Number.POSITIVE_INFINITY;
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    let discountedLow = Number.POSITIVE_INFINITY;
    let discountedHigh = Number.NEGATIVE_INFINITY;
    for (const queue of this.#queues) {
      const s = queue.nextDispatchR;
      const finish = s + (queue.oldest?.totalWork ?? 0);
      if (finish < earliest) {
        earliest = finish;
        next = queue;
      }
      const discounted = s - queue.seatsInUse * Ticket.ESTIMATE_MS;
      low = Math.min(low, s);
      high = Math.max(high, s);
      discountedLow = Math.min(discountedLow, discounted);
      discountedHigh = Math.max(discountedHigh, discounted);
    }
    if (next !== undefined) {
      const last = this.#last;
      last[0] = r;
      last[1] = next.nextDispatchR;
      last[2] = low;
      last[3] = high;
      last[4] = discountedLow;
      last[5] = discountedHigh;
    }
    return next;
  }
}
