/**
 * Metrics of controllers, with the names of Kubernetes.
 *
 * 1. Families are registered once for each process: controllers that are elected again continue their counters.
 * 2. What a queue works on now is read when metrics are scraped.
 */
import type { MetricsRegistry, Unfinished, WorkQueueObserver } from "#base";

export interface ControllerMetrics {
  readonly queue: WorkQueueObserver;
  reconciled(failures: number): void;
  /** The controller runs, with this queue. The returned function is called when it ends. */
  runs(queue: { unfinished(): Unfinished }): () => void;
  readonly families: Families;
}

/** The families of a controller: `define` is called once for each registry, whenever and by whom it is passed. */
export type Families = <T>(define: (registry: MetricsRegistry) => T) => T;

export interface ControllerMetricsOptions {
  /** The process, in `running_managed_controllers`. Default: kube-controller-manager. */
  readonly manager?: string;
}

const BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000];

export function controllerMetrics(
  registry: MetricsRegistry,
  { manager = "kube-controller-manager" }: ControllerMetricsOptions = {},
): (name: string) => ControllerMetrics {
  const own = queueFamilies(registry);
  const running = registry.gauge({
    name: "running_managed_controllers",
    help: "Whether a controller runs in this process: 1, or 0 once it has ended.",
    labels: ["name", "manager"],
    stability: "BETA",
  });
  const families = memoized(registry);
  const queues = new Map<string, { unfinished(): Unfinished }>();
  registry.collect(() => {
    for (const [name, queue] of queues) {
      const { totalMs, longestMs } = queue.unfinished();
      own.unfinished.labels(name).set(totalMs / 1000);
      own.longest.labels(name).set(longestMs / 1000);
    }
  });
  return (name) => {
    const [adds, depth, retries] = [own.adds.labels(name), own.depth.labels(name), own.retries.labels(name)];
    const [waited, worked] = [own.waited.labels(name), own.worked.labels(name)];
    return {
      queue: {
        added: () => adds.inc(),
        depth: (length) => depth.set(length),
        waited: (ms) => waited.observe(ms / 1000),
        worked: (ms) => worked.observe(ms / 1000),
        retried: () => retries.inc(),
      },
      reconciled: (failures) => {
        if (failures > 0) own.failed.labels(name).inc(failures);
      },
      runs: (queue) => {
        queues.set(name, queue);
        running.labels(name, manager).set(1);
        return () => {
          queues.delete(name);
          own.unfinished.labels(name).set(0);
          own.longest.labels(name).set(0);
          running.labels(name, manager).set(0);
        };
      },
      families,
    };
  };
}

export function memoized(registry: MetricsRegistry): Families {
  const known = new Map<unknown, unknown>();
  return <T>(define: (registry: MetricsRegistry) => T): T => {
    if (!known.has(define)) known.set(define, define(registry));
    return known.get(define) as T;
  };
}

function queueFamilies(registry: MetricsRegistry) {
  const labels = ["name"] as const;
  const counter = (name: string, help: string) => registry.counter({ name, help, labels, stability: "BETA" });
  const gauge = (name: string, help: string) => registry.gauge({ name, help, labels, stability: "BETA" });
  const histogram = (name: string, help: string) =>
    registry.histogram({ name, help, labels, buckets: BUCKETS, stability: "BETA" });
  return {
    depth: gauge("workqueue_depth", "Keys in the queue."),
    adds: counter("workqueue_adds_total", "Keys added to the queue."),
    retries: counter("workqueue_retries_total", "Keys added after a failure."),
    waited: histogram("workqueue_queue_duration_seconds", "How long keys were in the queue."),
    worked: histogram("workqueue_work_duration_seconds", "How long reconciles took."),
    unfinished: gauge("workqueue_unfinished_work_seconds", "How long the reconciles under way have taken, summed up."),
    longest: gauge("workqueue_longest_running_processor_seconds", "How long the oldest reconcile under way has taken."),
    failed: registry.counter({ name: "k8ts_controller_write_failures_total", help: "Failed writes.", labels }),
  };
}
