/** /metrics/slis: the result of every health check that somebody has asked for, and how often. */
import type { MetricsRegistry } from "#base";
import type { HealthObserver } from "./health.ts";

/** `startedMs`: since when the process runs. Default: that is not shown. */
export function healthMetrics(metrics: MetricsRegistry, startedMs?: number): HealthObserver {
  if (startedMs !== undefined)
    metrics
      .gauge({
        name: "process_start_time_seconds",
        help: "When the process started, in seconds since the epoch.",
        stability: "ALPHA",
      })
      .labels()
      .set(startedMs / 1000);
  const result = metrics.gauge({
    name: "kubernetes_healthcheck",
    help: "The last result of each health check: 1 is healthy.",
    labels: ["name", "type"],
    stability: "STABLE",
  });
  const total = metrics.counter({
    name: "kubernetes_healthchecks_total",
    help: "Health checks that were made, by their result.",
    labels: ["name", "status", "type"],
    stability: "STABLE",
  });
  return (check, endpoint, isHealthy) => {
    result.labels(check, endpoint).set(isHealthy ? 1 : 0);
    total.labels(check, isHealthy ? "success" : "error", endpoint).inc();
  };
}
