/**
 * The Retry-After of refused requests: longer while many are refused, as TCP's congestion control does it.
 *
 * 1. Doubled when at least three requests were refused in each second of the present delay; one second less when fewer
 *    than one was.
 * 2. Never doubled twice within one delay, so that a single spike counts once.
 */
const MAX_SECONDS = 32;

interface Second {
  readonly at: number;
  count: number;
}

export class RetryAfter {
  #seconds = 1;
  #raisedAt = 0;
  readonly #history: Second[] = [];

  /** A request is refused: returns its Retry-After in seconds. */
  refused(nowMs: number): number {
    const now = Math.floor(nowMs / 1000);
    const last = this.#history.at(-1);
    if (last?.at === now) {
      last.count++;
    } else {
      this.#adjust(now);
      this.#history.push({ at: now, count: 1 });
    }
    return this.#seconds;
  }

  #adjust(now: number): void {
    let refused = 0;
    for (const { at, count } of this.#history) if (now - at <= this.#seconds) refused += count;
    if (now - this.#raisedAt >= this.#seconds && refused >= 3 * this.#seconds) {
      this.#seconds = Math.min(MAX_SECONDS, 2 * this.#seconds);
      this.#raisedAt = now;
    } else if (refused < this.#seconds && this.#seconds > 1) {
      this.#seconds--;
    }
    const kept = Math.min(MAX_SECONDS, 2 * this.#seconds);
    while (this.#history[0] !== undefined && now - this.#history[0].at > kept) this.#history.shift();
  }
}
