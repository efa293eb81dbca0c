/** A priority level: its configuration, its seats, its requests. */
import type { flowcontrol } from "#api";
import type { Clock } from "#base";
import { Demand, type DemandStats, NO_DEMAND } from "./demand.ts";
import type { EventLoopBudget } from "./event-loop-budget.ts";
import { FairQueue, type Queuing } from "./fair-queue.ts";
import { LevelTimes } from "./measures/level-times.ts";
import type { FairnessMetrics } from "./measures/metrics.ts";
import { RetryAfter } from "./retry-after.ts";
import type { Lending, SeatLimits, Shares } from "./seat-shares.ts";

/** The part of the nominal seats that one request may have at most. */
const WIDEST_PART = 0.15;

export interface LevelOptions {
  readonly clock: Clock;
  readonly budget: EventLoopBudget;
  readonly metrics: FairnessMetrics;
  /** A level whose object was deleted has become idle. */
  readonly onDone: () => void;
}

export class Level {
  readonly name: string;
  readonly queue: FairQueue;
  readonly retryAfter = new RetryAfter();
  readonly #metrics: FairnessMetrics;
  #stats: DemandStats = NO_DEMAND;
  #spec: flowcontrol.PriorityLevelConfigurationSpec = { type: "Limited" };
  #queuing: Queuing = { type: "reject" };
  #limits: SeatLimits = { nominal: 0, least: 0, most: 0 };
  #uid = "";
  #widest = 0;
  /** Its object was deleted; the level goes once it is idle. */
  quiescing = false;

  constructor(name: string, { clock, budget, metrics, onDone }: LevelOptions) {
    this.name = name;
    this.#metrics = metrics;
    const onIdle = () => {
      if (this.quiescing) onDone();
    };
    const times = new LevelTimes(metrics.ofLevel(name), new Demand(), clock.monotonic());
    this.queue = new FairQueue({ clock, budget, times, onIdle });
  }

  get uid(): string {
    return this.#uid;
  }

  get queuing(): Queuing {
    return this.#queuing;
  }

  get exempt(): boolean {
    return this.#queuing.type === "exempt";
  }

  /** Seats that one request may have at most; 0: no limit, because the level has no queues. */
  get widest(): number {
    return this.#widest;
  }

  get shares(): Shares {
    const { limited, exempt } = this.#spec;
    const { nominalConcurrencyShares: shares, lendablePercent } = limited ?? exempt ?? {};
    return {
      shares: shares ?? (limited === undefined ? 0 : 30),
      lendablePercent: lendablePercent ?? 0,
      borrowingLimitPercent: limited?.borrowingLimitPercent,
    };
  }

  get limits(): SeatLimits {
    return this.#limits;
  }

  get stats(): DemandStats {
    return this.#stats;
  }

  configure(uid: string, spec: flowcontrol.PriorityLevelConfigurationSpec): void {
    this.#uid = uid;
    this.#spec = spec;
    this.#queuing = queuingOf(spec);
    this.quiescing = false;
  }

  limit(limits: SeatLimits): void {
    this.#limits = limits;
    const { nominal, least, most } = limits;
    const { gauges } = this.#metrics;
    gauges.nominal.labels(this.name).set(nominal);
    gauges.lower.labels(this.name).set(least);
    gauges.upper.labels(this.name).set(most);
    this.#widest =
      this.#queuing.type === "queue"
        ? Math.max(1, Math.min(Math.ceil(nominal * WIDEST_PART), Math.floor(nominal / this.#queuing.handSize)))
        : 0;
  }

  /** Ends a period of demand. */
  review(): void {
    this.#stats = this.queue.review(this.#stats);
  }

  /** Sets the seats until the next review. `spare`: the denominator in metrics if there are none. */
  seat({ current, target }: Lending, spare: number): void {
    this.queue.configure(this.#queuing, current, current > 0 ? current : spare);
    const { gauges } = this.#metrics;
    const { highest, average, deviation, smoothed } = this.#stats;
    gauges.current.labels(this.name).set(current);
    gauges.target.labels(this.name).set(target);
    gauges.demandHighest.labels(this.name).set(highest);
    gauges.demandAverage.labels(this.name).set(average);
    gauges.demandDeviation.labels(this.name).set(deviation);
    gauges.demandSmoothed.labels(this.name).set(smoothed);
  }

  /** Brings the metrics of virtual time up to date. */
  observe(): void {
    this.queue.observe();
    const { gauges, nextS, nextDiscountedS } = this.#metrics;
    gauges.currentR.labels(this.name).set(seconds(this.queue.r));
    const last = this.queue.lastDispatch;
    if (last === undefined) return;
    gauges.dispatchR.labels(this.name).set(seconds(last.r));
    gauges.latestS.labels(this.name).set(seconds(last.s));
    for (const [i, bound] of (["min", "max"] as const).entries()) {
      nextS.labels(bound, this.name).set(seconds(last.bounds[i] ?? 0));
      nextDiscountedS.labels(bound, this.name).set(seconds(last.discounted[i] ?? 0));
    }
  }
}

function queuingOf({ type, limited }: flowcontrol.PriorityLevelConfigurationSpec): Queuing {
  if (type === "Exempt") return { type: "exempt" };
  const { type: response, queuing } = limited?.limitResponse ?? {};
  if (response !== "Queue" || queuing === undefined) return { type: "reject" };
  const { queues = 64, handSize = 8, queueLengthLimit = 50 } = queuing;
  return { type: "queue", queues, handSize, lengthLimit: queueLengthLimit };
}

/** Seat-milliseconds to seat-seconds. */
function seconds(work: number): number {
  return work / 1000;
}
