/**
 * For how long a level was how busy: one account. The ratios that metrics show, and the demand that borrowing goes by, are made of it when somebody asks.
 *
 * 1. Most of the time nobody waits, and who is executed has one seat. Then one number says everything, and only what it was for how long is noted.
 */
import type { Demand, DemandStats } from "./demand.ts";
import type { LevelSamples } from "./metrics.ts";

/** More at a time are noted one account by one. */
const PLAIN = 256;

/** How busy it is. */
export interface Busyness {
  readonly waiting: number;
  readonly executing: number;
  readonly seatsInUse: number;
  readonly seatsWaiting: number;
}

export class LevelTimes {
  readonly #samples: LevelSamples;
  readonly #demand: Demand;
  #sinceMs: number;
  /** For how long so many were executed, with one seat each, while nobody waited. */
  readonly #plainMs = new Float64Array(PLAIN);

  constructor(samples: LevelSamples, demand: Demand, nowMs: number) {
    this.#samples = samples;
    this.#demand = demand;
    this.#sinceMs = nowMs;
  }

  /** Before every change: it has been like this until now. Returns for how long. */
  advance({ waiting, executing, seatsInUse, seatsWaiting }: Busyness, nowMs: number): number {
    if (waiting === 0 && executing === seatsInUse && executing < PLAIN) return this.#plain(executing, nowMs);
    const passedMs = nowMs - this.#sinceMs;
    if (passedMs <= 0) return 0;
    this.#sinceMs = nowMs;
    this.#spend(waiting, executing, seatsInUse, seatsInUse + seatsWaiting, passedMs);
    return passedMs;
  }

  /** Nobody was here, and then one with one seat until now. Returns for how long that was. */
  passed(startedMs: number, nowMs: number): number {
    this.#plain(0, startedMs);
    this.#demand.reach(1);
    return this.#plain(1, nowMs);
  }

  #plain(executing: number, nowMs: number): number {
    const passedMs = nowMs - this.#sinceMs;
    if (passedMs <= 0) return 0;
    this.#sinceMs = nowMs;
    this.#plainMs[executing] = (this.#plainMs[executing] ?? 0) + passedMs;
    return passedMs;
  }

  /** It could use so many seats from now on. */
  reach(demand: number): void {
    this.#demand.reach(demand);
  }

  /** Metrics show all that has been. */
  tell(): void {
    this.#settle();
    const { waiting, executing, seats, demand } = this.#samples;
    for (const ratio of [waiting, executing, seats, demand]) ratio.tell();
  }

  /** A period of demand ends, of which these are the statistics. */
  nextPeriod(before: DemandStats, demand: number): DemandStats {
    this.#settle();
    return this.#demand.next(before, demand);
  }

  /** What is compared with what, from now on. */
  setWholes(waiting: number, seats: number): void {
    this.tell();
    const samples = this.#samples;
    samples.waiting.whole = waiting;
    samples.executing.whole = samples.seats.whole = samples.demand.whole = seats;
  }

  #settle(): void {
    for (const [executing, ms] of this.#plainMs.entries())
      if (ms > 0) this.#spend(0, executing, executing, executing, ms);
    this.#plainMs.fill(0);
  }

  #spend(waiting: number, executing: number, seats: number, demand: number, ms: number): void {
    this.#samples.waiting.spend(waiting, ms);
    this.#samples.executing.spend(executing, ms);
    this.#samples.seats.spend(seats, ms);
    this.#samples.demand.spend(demand, ms);
    this.#demand.spend(demand, ms);
  }
}
