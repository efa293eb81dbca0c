/** Metrics of watch caches, read from the caches when metrics are scraped. */
import type { MetricsRegistry } from "#base";
import { type ResourceCache, WINDOW_EVENTS } from "../cache/resource-cache.ts";
import type { Resources } from "../rest/resources.ts";

const LABELS = ["group", "resource"] as const;

/** The returned function ends it. */
export function cacheMetrics(metrics: MetricsRegistry, resources: Resources): () => void {
  const counter = (name: string, help: string, stability: "ALPHA" | "BETA" = "ALPHA") =>
    metrics.counter({ name, help, labels: LABELS, stability });
  const gauge = (name: string, help: string) => metrics.gauge({ name, help, labels: LABELS, stability: "ALPHA" });
  const received = counter("apiserver_watch_cache_events_received_total", "Changes that watch caches have received.");
  const stored = counter(
    "apiserver_storage_events_received_total",
    "Changes that the watch of the store has delivered.",
    "BETA",
  );
  const dispatched = counter("apiserver_watch_cache_events_dispatched_total", "Events that were given to watchers.");
  const started = counter("apiserver_watch_cache_initializations_total", "How often watch caches were filled anew.");
  const initial = counter("apiserver_init_events_total", "Objects and events that watches began with.");
  const newest = gauge("apiserver_watch_cache_resource_version", "The revision of the newest change in a watch cache.");
  const capacity = gauge("watch_cache_capacity", "How many events a watch cache keeps before it drops the older half.");
  return metrics.collect(() => {
    // Versions of a resource share a cache.
    const seen = new Set<ResourceCache>();
    capacity.clear();
    newest.clear();
    for (const { cache, groupResource } of resources.all()) {
      if (seen.has(cache)) continue;
      seen.add(cache);
      const { group, resource } = groupResource;
      const { counts } = cache;
      received.labels(group, resource).setTotal(counts.received);
      stored.labels(group, resource).setTotal(counts.received);
      dispatched.labels(group, resource).setTotal(counts.dispatched);
      started.labels(group, resource).setTotal(counts.initializations);
      initial.labels(group, resource).setTotal(counts.initEvents);
      newest.labels(group, resource).set(cache.newest);
      capacity.labels(group, resource).set(2 * WINDOW_EVENTS);
    }
  });
}
