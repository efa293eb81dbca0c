/** What is counted of controllers, under the names that dashboards know. */
import type { MetricsRegistry, WorkQueueObserver } from "#base";

export interface ControllerMetrics {
  readonly queue: WorkQueueObserver;
  reconciled(failures: number): void;
}

const BUCKETS = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100];

export function controllerMetrics(registry: MetricsRegistry): (name: string) => ControllerMetrics {
  const labels = ["name"] as const;
  const depth = registry.gauge({ name: "workqueue_depth", help: "Keys that wait.", labels });
  const adds = registry.counter({ name: "workqueue_adds_total", help: "Keys that were added.", labels });
  const retries = registry.counter({ name: "workqueue_retries_total", help: "Keys added after a failure.", labels });
  const waited = registry.histogram({
    name: "workqueue_queue_duration_seconds",
    help: "How long keys waited.",
    labels,
    buckets: BUCKETS,
  });
  const worked = registry.histogram({
    name: "workqueue_work_duration_seconds",
    help: "How long keys were worked on.",
    labels,
    buckets: BUCKETS,
  });
  const failed = registry.counter({
    name: "k8ts_controller_write_failures_total",
    help: "Writes that failed.",
    labels,
  });
  return (name) => ({
    queue: {
      added: () => adds.labels(name).inc(),
      depth: (length) => depth.labels(name).set(length),
      waited: (ms) => waited.labels(name).observe(ms / 1000),
      worked: (ms) => worked.labels(name).observe(ms / 1000),
      retried: () => retries.labels(name).inc(),
    },
    reconciled: (failures) => {
      if (failures > 0) failed.labels(name).inc(failures);
    },
  });
}
