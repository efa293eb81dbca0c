/**
 * Metrics of lists and watches, under Kubernetes' names.
 *
 * 1. The samples of a resource are looked up once, on first use.
 */
import type { Clock, Counter, Histogram, MetricsRegistry } from "#base";
import type { Resource } from "./resource.ts";

const LABELS = ["group", "resource"] as const;
const INDEXED = [...LABELS, "index"] as const;
const WAIT_BUCKETS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3];
const SIZE_BUCKETS = [1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072];
const WATCH_LIST_BUCKETS = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60];

export type ScopeLabel = "cluster" | "namespace" | "resource";

/** What is counted about one version of a resource. */
export interface RestSamples {
  /** A list was answered from the cache. */
  listed(fetched: number, returned: number): void;
  /** A list was read from the store. */
  readStore(fetched: number, returned: number): void;
  /** A list of the newest state, from the cache. */
  readConsistently(isFresh: boolean): void;
  /** How long lists waited until the cache was new enough. */
  readonly waits: Histogram;
  readonly events: Counter;
  readonly eventBytes: Histogram;
  /** How long a watch took to send the objects that it began with. */
  watchListed(scope: ScopeLabel, tookMs: number): void;
}

type Families = ReturnType<typeof families>;

export class RestMetrics {
  readonly #families: Families;
  readonly #clock: Clock;
  readonly #known = new WeakMap<Resource, RestSamples>();

  constructor(metrics: MetricsRegistry, clock: Clock) {
    this.#families = families(metrics);
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.monotonic();
  }

  of(resource: Resource): RestSamples {
    let samples = this.#known.get(resource);
    if (samples === undefined) {
      samples = samplesOf(this.#families, resource);
      this.#known.set(resource, samples);
    }
    return samples;
  }
}

function samplesOf(own: Families, { kind, groupResource }: Resource): RestSamples {
  const { group, resource } = groupResource;
  const { version } = kind;
  const lists = own.lists.labels(group, resource, "");
  const fetches = own.fetched.labels(group, resource, "");
  const returns = own.returned.labels(group, resource);
  return {
    listed: (fetched, returned) => {
      lists.inc();
      fetches.inc(fetched);
      returns.inc(returned);
    },
    readStore: (fetched, returned) => {
      own.stored.lists.labels(group, resource).inc();
      own.stored.fetched.labels(group, resource).inc(fetched);
      own.stored.evaluated.labels(group, resource).inc(fetched);
      own.stored.returned.labels(group, resource).inc(returned);
    },
    readConsistently: (isFresh) => own.consistent.labels(group, resource, String(isFresh), "false").inc(),
    waits: own.waits.labels(group, resource),
    events: own.events.labels(group, resource, version),
    eventBytes: own.eventBytes.labels(group, resource, version),
    watchListed: (scope, tookMs) => own.watchLists.labels(group, resource, version, scope).observe(tookMs / 1000),
  };
}

function families(metrics: MetricsRegistry) {
  const counter = <const L extends readonly string[]>(name: string, help: string, labels: L) =>
    metrics.counter({ name, help, labels, stability: "ALPHA" });
  const start = "apiserver_storage_list";
  return {
    lists: counter("apiserver_cache_list_total", "Lists that were answered from the cache.", INDEXED),
    fetched: counter("apiserver_cache_list_fetched_objects_total", "Objects that lists looked at.", INDEXED),
    returned: counter("apiserver_cache_list_returned_objects_total", "Objects in answers to lists.", LABELS),
    stored: {
      lists: counter(`${start}_total`, "Lists of earlier states, which were read from the store.", LABELS),
      fetched: counter(`${start}_fetched_objects_total`, "Objects that such lists have read.", LABELS),
      evaluated: counter(
        `${start}_evaluated_objects_total`,
        "Objects that such lists compared with selectors.",
        LABELS,
      ),
      returned: counter(`${start}_returned_objects_total`, "Objects in answers to such lists.", LABELS),
    },
    consistent: counter(
      "apiserver_watch_cache_consistent_read_total",
      "Lists of the newest state from the cache, and whether it became as new as the store in time.",
      [...LABELS, "success", "fallback"],
    ),
    waits: metrics.histogram({
      name: "apiserver_watch_cache_read_wait_seconds",
      help: "How long lists waited until the cache was new enough.",
      labels: LABELS,
      buckets: WAIT_BUCKETS,
      stability: "ALPHA",
    }),
    events: counter("apiserver_watch_events_total", "Events that were sent to watchers.", [...LABELS, "version"]),
    eventBytes: metrics.histogram({
      name: "apiserver_watch_events_sizes",
      help: "Bytes of events that were sent. Watchers in this process are sent none.",
      labels: [...LABELS, "version"],
      buckets: SIZE_BUCKETS,
      stability: "ALPHA",
    }),
    watchLists: metrics.histogram({
      name: "apiserver_watch_list_duration_seconds",
      help: "How long watches that begin with a list took until that list was sent.",
      labels: [...LABELS, "version", "scope"],
      buckets: WATCH_LIST_BUCKETS,
      stability: "BETA",
    }),
  };
}
