/**
 * Metrics of API priority and fairness, under Kubernetes' names.
 *
 * 1. Code that runs for each request holds its samples: nothing is looked up by labels.
 * 2. Values such as virtual time are set when the metrics are scraped.
 */
import type { Counter, Gauge, Histogram, MetricFamily, MetricsRegistry } from "#base";
import { RatioTimes, TimedRatio } from "./timed-ratio.ts";

const PREFIX = "apiserver_flowcontrol_";
const DURATION_BUCKETS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const LEVEL = ["priority_level"] as const;
const FLOW = ["flow_schema", "priority_level"] as const;

/** The others are ALPHA. */
const BETA = new Set([
  "current_executing_requests",
  "current_executing_seats",
  "current_inqueue_requests",
  "dispatched_requests_total",
  "nominal_limit_seats",
  "rejected_requests_total",
  "request_wait_duration_seconds",
]);

function stabilityOf(name: string): "ALPHA" | "BETA" {
  return BETA.has(name) ? "BETA" : "ALPHA";
}

export type Rejection = "queue-full" | "time-out" | "concurrency-limit";

/** The samples of one schema at one level. */
export interface SchemaSamples {
  readonly dispatched: Counter;
  readonly executing: Gauge;
  readonly executingSeats: Gauge;
  readonly queued: Gauge;
  readonly queuedSeats: Gauge;
  readonly queueLength: Histogram;
  readonly waited: Histogram;
  readonly waitedInVain: Histogram;
  readonly executed: Histogram;
  readonly watchStarted: Histogram;
  readonly watches: Histogram;
  readonly seats: Histogram;
  /** The series exists from the first rejection on. */
  rejected(reason: Rejection): void;
  notAccommodated(): void;
}

/** The samples of a level. */
export interface LevelSamples {
  readonly waiting: RatioTimes;
  readonly executing: RatioTimes;
  readonly seats: RatioTimes;
  readonly demand: RatioTimes;
}

type LevelGauge = MetricFamily<Gauge, typeof LEVEL>;

export class FairnessMetrics {
  readonly #rejected: MetricFamily<Counter, readonly [...typeof FLOW, "reason"]>;
  readonly #notAccommodated: MetricFamily<Counter, typeof FLOW>;
  readonly #flow;
  readonly #level;
  readonly #readWrite: MetricFamily<Histogram, readonly ["phase", "request_kind"]>;
  /** Set when metrics are scraped, or when seats are lent. */
  readonly gauges: Readonly<
    Record<
      | "currentR"
      | "dispatchR"
      | "latestS"
      | "nominal"
      | "lower"
      | "upper"
      | "current"
      | "target"
      | "demandHighest"
      | "demandAverage"
      | "demandDeviation"
      | "demandSmoothed",
      LevelGauge
    >
  >;
  readonly nextS: MetricFamily<Gauge, readonly ["bound", "priority_level"]>;
  readonly nextDiscountedS: MetricFamily<Gauge, readonly ["bound", "priority_level"]>;
  readonly fairFraction: Gauge;

  constructor(registry: MetricsRegistry) {
    const counter = <const L extends readonly string[]>(name: string, help: string, labels: L) =>
      registry.counter({ name: PREFIX + name, help, labels, stability: stabilityOf(name) });
    const gauge = <const L extends readonly string[]>(name: string, help: string, labels: L) =>
      registry.gauge({ name: PREFIX + name, help, labels, stability: stabilityOf(name) });
    const histogram = <const L extends readonly string[]>(
      name: string,
      help: string,
      labels: L,
      buckets: readonly number[],
    ) => registry.histogram({ name: PREFIX + name, help, labels, buckets, stability: stabilityOf(name) });

    this.#rejected = counter("rejected_requests_total", "Requests that were refused, by reason.", [...FLOW, "reason"]);
    this.#notAccommodated = counter(
      "request_dispatch_no_accommodation_total",
      "Times that the next request in line found too few free seats.",
      FLOW,
    );
    this.#flow = {
      dispatched: counter("dispatched_requests_total", "Requests that were let pass.", FLOW),
      executing: gauge("current_executing_requests", "Requests being executed; of watches, those starting.", FLOW),
      executingSeats: gauge("current_executing_seats", "Seats that requests occupy.", FLOW),
      queued: gauge("current_inqueue_requests", "Requests that wait in queues.", FLOW),
      queuedSeats: gauge("current_inqueue_seats", "Seats that waiting requests will need.", FLOW),
      queueLength: histogram(
        "request_queue_length_after_enqueue",
        "Length of a queue, as each request sees it that joins it.",
        FLOW,
        [0, 10, 25, 50, 100, 250, 500, 1000],
      ),
      waited: histogram(
        "request_wait_duration_seconds",
        "How long requests waited, by whether they were executed after that.",
        [...FLOW, "execute"],
        DURATION_BUCKETS,
      ),
      executed: histogram(
        "request_execution_seconds",
        "How long requests were executed; of watches, how long they took to start.",
        [...FLOW, "type"],
        DURATION_BUCKETS,
      ),
      watches: histogram("watch_count_samples", "Watches that hear of a write.", FLOW, [0, 1, 10, 100, 1000, 10000]),
      seats: histogram("work_estimated_seats", "How wide requests are.", FLOW, [1, 2, 4, 8, 16, 32, 64, 100]),
    };
    this.#level = {
      demand: histogram(
        "demand_seats",
        "Of every nanosecond: seats that a level could use, to its nominal limit.",
        LEVEL,
        [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6],
      ),
      seats: histogram(
        "priority_level_seat_utilization",
        "Of every nanosecond: seats in use, to the level's limit.",
        ["phase", ...LEVEL],
        [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1],
      ),
      requests: histogram(
        "priority_level_request_utilization",
        "Of every nanosecond: requests that wait or are executed, to the level's limit.",
        ["phase", ...LEVEL],
        [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1],
      ),
    };
    this.#readWrite = histogram(
      "read_vs_write_current_requests",
      "Of every nanosecond: requests that wait or are executed, to the limit of all of them.",
      ["phase", "request_kind"],
      [0, 0.001, 0.01, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1],
    );
    this.gauges = {
      currentR: gauge("current_r", "Progress meter R, when it last changed.", LEVEL),
      dispatchR: gauge("dispatch_r", "Progress meter R at the last dispatch.", LEVEL),
      latestS: gauge("latest_s", "S of the request that was dispatched last.", LEVEL),
      nominal: gauge("nominal_limit_seats", "Seats by the level's shares.", LEVEL),
      lower: gauge("lower_limit_seats", "Seats that the level keeps, whoever wants to borrow.", LEVEL),
      upper: gauge("upper_limit_seats", "Seats that the level may have with those it borrows.", LEVEL),
      current: gauge("current_limit_seats", "Seats that the level has now.", LEVEL),
      target: gauge("target_seats", "Seats that the level would get if nothing else counted.", LEVEL),
      demandHighest: gauge("demand_seats_high_watermark", "Highest demand of the last period.", LEVEL),
      demandAverage: gauge("demand_seats_average", "Average demand of the last period.", LEVEL),
      demandDeviation: gauge("demand_seats_stdev", "Standard deviation of the last period's demand.", LEVEL),
      demandSmoothed: gauge("demand_seats_smoothed", "Demand, smoothed over periods.", LEVEL),
    };
    this.nextS = gauge("next_s_bounds", "Least and greatest S of the oldest requests in queues.", ["bound", ...LEVEL]);
    this.nextDiscountedS = gauge(
      "next_discounted_s_bounds",
      "The same, less the work that the queues have in progress.",
      ["bound", ...LEVEL],
    );
    this.fairFraction = gauge("seat_fair_frac", "The fraction of its target that each level gets.", []).labels();
  }

  ofSchema(schema: string, level: string): SchemaSamples {
    const { waited, executed, ...others } = this.#flow;
    return {
      dispatched: others.dispatched.labels(schema, level),
      executing: others.executing.labels(schema, level),
      executingSeats: others.executingSeats.labels(schema, level),
      queued: others.queued.labels(schema, level),
      queuedSeats: others.queuedSeats.labels(schema, level),
      queueLength: others.queueLength.labels(schema, level),
      waited: waited.labels(schema, level, "true"),
      waitedInVain: waited.labels(schema, level, "false"),
      executed: executed.labels(schema, level, "regular"),
      watchStarted: executed.labels(schema, level, "watch"),
      watches: others.watches.labels(schema, level),
      seats: others.seats.labels(schema, level),
      rejected: (reason) => this.#rejected.labels(schema, level, reason).inc(),
      notAccommodated: () => this.#notAccommodated.labels(schema, level).inc(),
    };
  }

  ofLevel(level: string): LevelSamples {
    const { requests, seats, demand } = this.#level;
    return {
      waiting: new RatioTimes(requests.labels("waiting", level)),
      executing: new RatioTimes(requests.labels("executing", level)),
      seats: new RatioTimes(seats.labels("executing", level)),
      demand: new RatioTimes(demand.labels(level)),
    };
  }

  readWrite(phase: "waiting" | "executing", kind: "readOnly" | "mutating", nowMs: number): TimedRatio {
    return new TimedRatio(this.#readWrite.labels(phase, kind), nowMs);
  }
}
