/** /metrics/slis: the result of every health check that somebody has asked for, and how often. */
import type { MetricsRegistry } from "#base";
import type { HealthObserver } from "./health.ts";

export function healthMetrics(metrics: MetricsRegistry): HealthObserver {
  const result = metrics.gauge({
    name: "kubernetes_healthcheck",
    help: "The last result of each health check: 1 is healthy.",
    labels: ["name", "type"],
  });
  const total = metrics.counter({
    name: "kubernetes_healthchecks_total",
    help: "Health checks that were made, by their result.",
    labels: ["name", "status", "type"],
  });
  return (check, endpoint, isHealthy) => {
    result.labels(check, endpoint).set(isHealthy ? 1 : 0);
    total.labels(check, isHealthy ? "success" : "error", endpoint).inc();
  };
}
