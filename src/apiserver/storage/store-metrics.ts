/**
 * What /metrics says about the store: how many objects there are of each resource, and how large its data are.
 *
 * 1. Both are read at an interval, not with each request for metrics. An interval of 0 turns the metric off.
 * 2. A size that cannot be read keeps its last value, and is tried again at the next interval.
 */
import type { Clock, Logger, MetricsRegistry } from "#base";
import type { Store } from "#store";
import type { ResourceCache } from "../cache/resource-cache.ts";
import type { Resources } from "../rest/resources.ts";

export const COUNT_PERIOD_MS = 60_000;
export const SIZE_INTERVAL_MS = 30_000;
/** Of each resource, for the estimate of its size. */
const SAMPLED_OBJECTS = 100;
/** Kubernetes' name of the first cluster of a server. */
const STORAGE_CLUSTER = "etcd-0";

export interface ObjectCountOptions {
  readonly resources: Resources;
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  readonly periodMs?: number | undefined;
}

/** Runs until its signal aborts. */
export async function countObjects(
  { resources, metrics, clock, periodMs = COUNT_PERIOD_MS }: ObjectCountOptions,
  signal: AbortSignal,
): Promise<void> {
  if (periodMs === 0) return;
  const gauge = metrics.gauge({
    name: "apiserver_resource_objects",
    help: "Objects of each resource in the store, as of the last count.",
    labels: ["group", "resource"],
    stability: "ALPHA",
  });
  const known = metrics.gauge({
    name: "apiserver_storage_objects",
    help: "The same, with the group as a part of the resource's name.",
    labels: ["resource"],
    stability: "STABLE",
  });
  const bytes = metrics.gauge({
    name: "apiserver_resource_size_estimate_bytes",
    help: "Bytes of the objects of each resource, estimated from some of them, as of the last count.",
    labels: ["group", "resource"],
    stability: "ALPHA",
  });
  while (!signal.aborted) {
    // Resources that are no longer served disappear.
    for (const each of [gauge, known, bytes]) each.clear();
    for (const { groupResource, cache } of resources.all()) {
      const { group, resource } = groupResource;
      gauge.labels(group, resource).set(cache.size);
      known.labels(group === "" ? resource : `${resource}.${group}`).set(cache.size);
      bytes.labels(group, resource).set(estimatedBytes(cache));
    }
    await clock.sleep(periodMs, signal).catch(() => {});
  }
}

/** A look at the bytes of an object makes none: what has been encoded or stored is measured. */
function estimatedBytes(cache: ResourceCache): number {
  let [count, total] = [0, 0];
  for (const stored of cache.snapshot().values()) {
    total += stored.bytes;
    if (++count === SAMPLED_OBJECTS) break;
  }
  return count === 0 ? 0 : Math.round((total / count) * cache.size);
}

export interface StoreSizeOptions {
  readonly store: Pick<Store, "sizeBytes">;
  readonly metrics: MetricsRegistry;
  readonly clock: Clock;
  readonly log: Logger;
  readonly intervalMs?: number | undefined;
}

/** Runs until its signal aborts. Stores that cannot tell their size have no such metric. */
export async function measureStore(options: StoreSizeOptions, signal: AbortSignal): Promise<void> {
  const { store, metrics, clock, log, intervalMs = SIZE_INTERVAL_MS } = options;
  if (intervalMs === 0 || store.sizeBytes === undefined) return;
  const gauge = metrics.gauge({
    name: "apiserver_storage_size_bytes",
    help: "Bytes that the data of the store take.",
    labels: ["storage_cluster_id"],
    stability: "STABLE",
  });
  while (!signal.aborted) {
    try {
      gauge.labels(STORAGE_CLUSTER).set(await store.sizeBytes());
    } catch (error) {
      if (signal.aborted) return;
      log.warn("the size of the store cannot be read; trying again", { error });
    }
    await clock.sleep(intervalMs, signal).catch(() => {});
  }
}
