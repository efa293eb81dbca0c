/** Metrics of controllers, with the names of Kubernetes. */
import type { MetricsRegistry, WorkQueueObserver } from "#base";

export interface ControllerMetrics {
  readonly queue: WorkQueueObserver;
  reconciled(failures: number): void;
}

const BUCKETS = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100];

export function controllerMetrics(registry: MetricsRegistry): (name: string) => ControllerMetrics {
  const labels = ["name"] as const;
  const depth = registry.gauge({ name: "workqueue_depth", help: "Keys in the queue.", labels });
  const adds = registry.counter({ name: "workqueue_adds_total", help: "Keys added to the queue.", labels });
  const retries = registry.counter({ name: "workqueue_retries_total", help: "Keys added after a failure.", labels });
  const waited = registry.histogram({
    name: "workqueue_queue_duration_seconds",
    help: "Time of keys in the queue.",
    labels,
    buckets: BUCKETS,
  });
  const worked = registry.histogram({
    name: "workqueue_work_duration_seconds",
    help: "Duration of reconciles.",
    labels,
    buckets: BUCKETS,
  });
  const failed = registry.counter({
    name: "k8ts_controller_write_failures_total",
    help: "Failed writes.",
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
