import type { MetricsRegistry } from "#base";

/** 1 s to about 8 minutes. */
const BUCKETS = Array.from({ length: 10 }, (_, i) => 2 ** i);

export function cronJobMetrics(registry: MetricsRegistry) {
  return {
    skew: registry
      .histogram({
        name: "cronjob_controller_job_creation_skew_duration_seconds",
        help: "How long after its scheduled time a Job was created.",
        buckets: BUCKETS,
        stability: "STABLE",
      })
      .labels(),
  };
}
