/** Metrics of the listings that notice changes of containers. */
import type { MetricsRegistry } from "#base";
import { SECONDS } from "../runtime/buckets.ts";

export interface PlegObserver {
  /** `sinceLastMs`: from the start of the listing before; undefined for the first one. */
  listed(tookMs: number, sinceLastMs: number | undefined, nowMs: number): void;
}

export function plegMetrics(metrics: MetricsRegistry): PlegObserver {
  const duration = metrics.histogram({
    name: "kubelet_pleg_relist_duration_seconds",
    help: "Duration in seconds for relisting pods in PLEG.",
    buckets: SECONDS,
  });
  const interval = metrics.histogram({
    name: "kubelet_pleg_relist_interval_seconds",
    help: "Interval in seconds between relisting in PLEG.",
    buckets: SECONDS,
  });
  const seen = metrics.gauge({
    name: "kubelet_pleg_last_seen_seconds",
    help: "Timestamp in seconds when PLEG was last seen active.",
  });
  return {
    listed(tookMs, sinceLastMs, nowMs) {
      duration.labels().observe(tookMs / 1000);
      if (sinceLastMs !== undefined) interval.labels().observe(sinceLastMs / 1000);
      seen.labels().set(nowMs / 1000);
    },
  };
}
