/**
 * One thread serves everyone, so what is waited for is not only a seat but a turn of the event loop. In each turn requests of so many seats may start; the
 * others wait in their levels' queues, where the next turn finds them in fair order, together with those who have come meanwhile.
 *
 *     turn:  requests are read ──► room left? start : wait          ──► refill ──► those who wait, level by level ──► next turn
 *
 * 1. A turn with room costs a request nothing but a subtraction: nobody waits unless a turn has become long.
 * 2. Levels that wait take turns in proportion to their seats. One that comes anew starts where the others are: it has nothing saved up.
 * 3. A flow that has been alone for a while may start more in a turn: there is nobody whom that would keep waiting. Whoever comes next waits for one such turn
 *    at most.
 * 4. The next turn is arranged only when half of the room is taken: an idle server has nothing scheduled, and one that is not busy hardly ever has. A
 *    turn may so begin with what the ones before it have left, which is half of the room at least.
 */

/** How many turns' worth one that is alone may start in a turn. */
const ALONE_TURNS = 3;
const ALONE_AFTER_MS = 250;

/** A level as its turn sees it. */
export interface Dispatcher {
  /** How many seats it has: its share of every turn. */
  readonly limit: number;
  /** Starts the request that is next in line: the seats it takes, 0 if there are too few. */
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
  /** How much of its share the level has had that was served last. */
  #progress = 0;
  /** Who came last, and since when nobody else has. */
  #flow: object | undefined;
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

  /** A request comes; those of one flow have the same of both. Whether it may start in this turn, where nobody waits, even if that has no room. */
  mayExceed(flow: object, distinguisher: string, nowMs: number): boolean {
    if (flow !== this.#flow || distinguisher !== this.#distinguisher) {
      this.#flow = flow;
      this.#distinguisher = distinguisher;
      this.#aloneSinceMs = nowMs;
      return false;
    }
    return nowMs - this.#aloneSinceMs >= ALONE_AFTER_MS && this.#left > (1 - ALONE_TURNS) * this.#seatsPerTurn;
  }

  /** Something of so many seats starts in this turn. */
  take(seats: number): void {
    this.#left -= seats;
    if (this.#arranged || this.#left > this.#seatsPerTurn / 2) return;
    this.#arranged = true;
    void this.#nextTurn().then(() => this.#refill());
  }

  /** The level has requests that wait. */
  join(level: Dispatcher): void {
    if (!this.#waiting.has(level)) this.#waiting.set(level, { served: this.#progress });
  }

  leave(level: Dispatcher): void {
    this.#waiting.delete(level);
    if (this.#waiting.size === 0) this.#progress = 0;
  }

  /** Starts what can be started in this turn. */
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
