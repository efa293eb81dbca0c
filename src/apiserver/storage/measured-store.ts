/**
 * A store whose calls are measured, under the names that Kubernetes has for requests to etcd, whatever the backend is.
 *
 * 1. Reads of clients come from caches and are not seen here: these are writes, lists of past states, and the lists
 *    with which caches begin.
 * 2. A refused compare-and-swap is an answer, not an error.
 */
import type { Clock, Counter, Histogram, MetricsRegistry } from "#base";
import type { Store } from "#store";
import { STORE_PREFIX } from "../rest/resource.ts";

const BUCKETS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];
const LABELS = ["operation", "group", "resource"] as const;

interface CallSamples {
  readonly total: Counter;
  readonly seconds: Histogram;
  failed(): void;
}

export function measuredStore(store: Store, metrics: MetricsRegistry, clock: Clock): Store {
  const total = metrics.counter({
    name: "etcd_requests_total",
    help: "Calls to the store, by operation and resource.",
    labels: LABELS,
    stability: "ALPHA",
  });
  const errors = metrics.counter({
    name: "etcd_request_errors_total",
    help: "Calls to the store that failed.",
    labels: LABELS,
    stability: "ALPHA",
  });
  const seconds = metrics.histogram({
    name: "etcd_request_duration_seconds",
    help: "How long calls to the store took.",
    labels: LABELS,
    buckets: BUCKETS,
    stability: "ALPHA",
  });
  const operation = (name: string) => {
    const known = new Map<string, CallSamples>();
    const samplesOf = (key: string): CallSamples => {
      const place = placeOf(key);
      let samples = known.get(place);
      if (samples === undefined) {
        const { group, resource } = resourceIn(place);
        samples = {
          total: total.labels(name, group, resource),
          seconds: seconds.labels(name, group, resource),
          failed: () => errors.labels(name, group, resource).inc(),
        };
        known.set(place, samples);
      }
      return samples;
    };
    return async <T>(key: string, call: () => Promise<T>): Promise<T> => {
      const samples = samplesOf(key);
      const startMs = clock.monotonic();
      samples.total.inc();
      try {
        return await call();
      } catch (error) {
        samples.failed();
        throw error;
      } finally {
        samples.seconds.observe((clock.monotonic() - startMs) / 1000);
      }
    };
  };
  const [get, list, count] = [operation("get"), operation("list"), operation("count")];
  const [create, update, remove] = [operation("create"), operation("update"), operation("delete")];
  const { sizeBytes } = store;
  return {
    get: (key, options) => get(key, () => store.get(key, options)),
    list: (prefix, options) => list(prefix, () => store.list(prefix, options)),
    count: (prefix, options) => count(prefix, () => store.count(prefix, options)),
    create: (key, value, options) => create(key, () => store.create(key, value, options)),
    update: (key, value, expected, options) => update(key, () => store.update(key, value, expected, options)),
    delete: (key, expected, options) => remove(key, () => store.delete(key, expected, options)),
    watch: (prefix, options) => store.watch(prefix, options),
    revision: (options) => store.revision(options),
    compact: (revision, options) => store.compact(revision, options),
    ...(sizeBytes !== undefined && { sizeBytes: () => sizeBytes.call(store) }),
    close: () => store.close(),
  };
}

/** The first two parts behind the prefix: a group and a resource, or the resource and a namespace of the core group. */
function placeOf(key: string): string {
  const first = key.indexOf("/", STORE_PREFIX.length);
  const second = first === -1 ? -1 : key.indexOf("/", first + 1);
  return key.slice(STORE_PREFIX.length, second === -1 ? undefined : second);
}

function resourceIn(place: string): { readonly group: string; readonly resource: string } {
  const [group = "", resource = ""] = place.split("/");
  return { group: group === "core" ? "" : group, resource };
}
