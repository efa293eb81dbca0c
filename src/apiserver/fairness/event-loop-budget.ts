/**
 * How many requests may start in one turn of the event loop. One thread serves all requests, so requests compete for
 * its time, not only for seats. Requests beyond the budget wait in their levels' queues, and the next turn starts them
 * in fair order, together with those that have arrived meanwhile.
 *
 *     turn: requests are read ──► room left? start : wait ──► refill ──► waiting requests, level by level ──► next turn
 *
 * 1. While there is room a request costs a subtraction.
 * 2. Waiting levels are served in proportion to their seats. A level that starts to wait has no credit from before.
 * 3. A flow that has been alone for a while may start more in a turn, because no other flow has to wait for that. The
 *    next flow waits for one such turn at most.
 * 4. The refill is scheduled only when half of the room is taken: an idle server has nothing scheduled. So a turn may
 *    start with what the turns before it have left, which is at least half of the room.
 */

/** A flow that is alone may start so many times the budget in a turn. */
const ALONE_TURNS = 3;
const ALONE_AFTER_MS = 250;

/** A level as the budget sees it. */
export interface Dispatcher {
  /** The seats of the level: its share of every turn. */
  readonly limit: number;
  /** Starts the next waiting request. Returns its seats, or 0 if there are too few. */
  dispatch(): number;
}

interface Standing {
  served: number;
}

export class EventLoopBudget {
  readonly #seatsPerTurn: number;
  readonly #nextTurn: () => Promise<void>;
  readonly #waiting = new Map<Dispatcher, Standing>();
  #left: number;
  #arranged = false;
  /** How much of its share the level that was served last has had. */
  #progress = 0;
  /** The flow of the last request, and since when there was no other flow. */
  #schema: object | undefined;
  #distinguisher = "";
  #aloneSinceMs = 0;

  constructor(seatsPerTurn: number, nextTurn: () => Promise<void>) {
    this.#seatsPerTurn = seatsPerTurn;
    this.#nextTurn = nextTurn;
    this.#left = seatsPerTurn;
  }

  get hasRoom(): boolean {
    return this.#left > 0;
  }

  /**
   * A request of this flow arrives. True if it may start in this turn although there is no room, provided that nothing
   * waits.
   */
  mayExceed(schema: object, distinguisher: string, nowMs: number): boolean {
    if (schema !== this.#schema || distinguisher !== this.#distinguisher) {
      this.#schema = schema;
      this.#distinguisher = distinguisher;
      this.#aloneSinceMs = nowMs;
      return false;
    }
    return nowMs - this.#aloneSinceMs >= ALONE_AFTER_MS && this.#left > (1 - ALONE_TURNS) * this.#seatsPerTurn;
  }

  /** A request of so many seats starts in this turn. */
  take(seats: number): void {
    this.#left -= seats;
    if (this.#arranged || this.#left > this.#seatsPerTurn / 2) return;
    this.#arranged = true;
    void this.#nextTurn().then(() => this.#refill());
  }

  /** The level has waiting requests. */
  join(level: Dispatcher): void {
    if (!this.#waiting.has(level)) this.#waiting.set(level, { served: this.#progress });
  }

  leave(level: Dispatcher): void {
    this.#waiting.delete(level);
    if (this.#waiting.size === 0) this.#progress = 0;
  }

  /** Starts waiting requests while there is room. */
  run(): void {
    let lacking: Set<Dispatcher> | undefined;
    while (this.#left > 0) {
      const level = this.#next(lacking);
      const standing = level && this.#waiting.get(level);
      if (level === undefined || standing === undefined) return;
      const seats = level.dispatch();
      if (seats === 0) {
        lacking ??= new Set();
        lacking.add(level);
        continue;
      }
      this.#progress = standing.served;
      standing.served += seats / Math.max(1, level.limit);
      this.take(seats);
    }
  }

  /** The level that has had the least of its share. */
  #next(lacking: ReadonlySet<Dispatcher> | undefined): Dispatcher | undefined {
    let next: Dispatcher | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const [level, { served }] of this.#waiting) {
      if (served < least && !lacking?.has(level)) {
        next = level;
        least = served;
      }
    }
    return next;
  }

  #refill(): void {
    this.#arranged = false;
    this.#left = this.#seatsPerTurn;
    this.run();
  }
}
