/** For how long a level was how busy: the ratios that metrics show, and the demand that borrowing of seats goes by. */
import type { Demand, DemandStats } from "../demand.ts";
import type { LevelSamples } from "./metrics.ts";

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

  constructor(samples: LevelSamples, demand: Demand, nowMs: number) {
    this.#samples = samples;
    this.#demand = demand;
    this.#sinceMs = nowMs;
  }

  /** Before every change: the level has been like this until now. Returns for how long. */
  advance({ waiting, executing, seatsInUse, seatsWaiting }: Busyness, nowMs: number): number {
    const passedMs = nowMs - this.#sinceMs;
    if (passedMs <= 0) return 0;
    this.#sinceMs = nowMs;
    const samples = this.#samples;
    samples.waiting.spend(waiting, passedMs);
    samples.executing.spend(executing, passedMs);
    samples.seats.spend(seatsInUse, passedMs);
    samples.demand.spend(seatsInUse + seatsWaiting, passedMs);
    this.#demand.spend(seatsInUse + seatsWaiting, passedMs);
    return passedMs;
  }

  /** The level could use so many seats from now on. */
  reach(demand: number): void {
    this.#demand.reach(demand);
  }

  /** Brings metrics up to date. */
  report(): void {
    const { waiting, executing, seats, demand } = this.#samples;
    for (const ratio of [waiting, executing, seats, demand]) ratio.report();
  }

  /** Ends a period of demand, and returns its statistics. */
  nextPeriod(before: DemandStats, demand: number): DemandStats {
    return this.#demand.next(before, demand);
  }

  /** Sets what the samples are divided by, from now on. */
  setWholes(waiting: number, seats: number): void {
    this.report();
    const samples = this.#samples;
    samples.waiting.whole = waiting;
    samples.executing.whole = samples.seats.whole = samples.demand.whole = seats;
  }
}
