/** Metrics, with the names of kube-scheduler. */
import type { Gauge, MetricsRegistry } from "#base";
import type { Stages } from "../framework/index.ts";
import type { SchedulingQueue } from "../queue/index.ts";
import { PluginEvaluations } from "./plugin-evaluations.ts";

const DURATIONS = exponential(0.001, 2, 15);
const LONG_DURATIONS = exponential(0.01, 2, 20);

function exponential(start: number, factor: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => start * factor ** at);
}

export type SchedulerMetrics = ReturnType<typeof schedulerMetrics>;

/** Created once for a registry: a scheduler that is elected again continues its counters. */
export function schedulerMetrics(registry: MetricsRegistry) {
  const evaluated = registry.counter({
    name: "scheduler_plugin_evaluation_total",
    stability: "BETA",
    help: "Attempts that a plugin took part in, by extension point.",
    labels: ["plugin", "extension_point", "profile"],
  });
  const underWay = registry.gauge({
    name: "scheduler_goroutines",
    stability: "BETA",
    help: "Tasks that run beside the attempts, by what they do.",
    labels: ["operation"],
  });
  const byProfile = new WeakMap<Stages, PluginEvaluations>();
  return {
    registry,
    /** Of a profile. */
    evaluationsOf: (stages: Stages): PluginEvaluations => {
      let evaluations = byProfile.get(stages);
      if (evaluations === undefined) {
        evaluations = new PluginEvaluations(evaluated, stages);
        byProfile.set(stages, evaluations);
      }
      return evaluations;
    },
    underWay: { binding: underWay.labels("binding"), preemption: underWay.labels("preemption") },
    attempts: registry.counter({
      name: "scheduler_schedule_attempts_total",
      stability: "STABLE",
      help: "Scheduling attempts by result: scheduled, unschedulable if no node fits, error if something failed.",
      labels: ["result", "profile"],
    }),
    attemptSeconds: registry.histogram({
      name: "scheduler_scheduling_attempt_duration_seconds",
      stability: "STABLE",
      help: "Duration of scheduling attempts, including the binding",
      labels: ["result", "profile"],
      buckets: DURATIONS,
    }),
    algorithmSeconds: registry.histogram({
      name: "scheduler_scheduling_algorithm_duration_seconds",
      stability: "ALPHA",
      help: "Duration of choosing a node",
      buckets: DURATIONS,
    }),
    pointSeconds: registry.histogram({
      name: "scheduler_framework_extension_point_duration_seconds",
      stability: "STABLE",
      help: "Duration of all plugins of an extension point",
      labels: ["extension_point", "status", "profile"],
      buckets: exponential(0.0001, 2, 12),
    }),
    permitSeconds: registry.histogram({
      name: "scheduler_permit_wait_duration_seconds",
      stability: "BETA",
      help: "Duration of waiting for permit",
      labels: ["result"],
      buckets: DURATIONS,
    }),
    afterFlush: registry.counter({
      name: "scheduler_pod_scheduled_after_flush_total",
      stability: "ALPHA",
      help: "Pods scheduled after the timeout of unschedulable pods, without a wake-up event.",
    }),
    podSeconds: registry.histogram({
      name: "scheduler_pod_scheduling_sli_duration_seconds",
      stability: "BETA",
      help: "Duration from the first time a pod was schedulable to its binding, over all attempts",
      labels: ["attempts"],
      buckets: LONG_DURATIONS,
    }),
    podAttempts: registry.histogram({
      name: "scheduler_pod_scheduling_attempts",
      stability: "STABLE",
      help: "Number of attempts until a pod was scheduled",
      buckets: [1, 2, 4, 8, 16],
    }),
    pending: registry.gauge({
      name: "scheduler_pending_pods",
      stability: "STABLE",
      help: "Pending pods by queue: active, backoff, unschedulable or gated.",
      labels: ["queue"],
    }),
    incoming: registry.counter({
      name: "scheduler_queue_incoming_pods_total",
      stability: "STABLE",
      help: "Pods added to a queue, by event",
      labels: ["queue", "event"],
    }),
    cacheSize: registry.gauge({
      name: "scheduler_cache_size",
      stability: "ALPHA",
      help: "Nodes, pods and assumed pods in the scheduler's cache",
      labels: ["type"],
    }),
    unschedulable: registry.gauge({
      name: "scheduler_unschedulable_pods",
      stability: "BETA",
      help: "Unschedulable pods by rejecting plugin. A pod that several plugins reject counts for each of them.",
      labels: ["plugin", "profile"],
    }),
    groupAttempts: registry.counter({
      name: "scheduler_podgroup_schedule_attempts_total",
      stability: "ALPHA",
      help: "Attempts for pod groups by result: scheduled, unschedulable if too few pods fit, error if something failed.",
      labels: ["result", "profile"],
    }),
    groupSeconds: registry.histogram({
      name: "scheduler_podgroup_scheduling_attempt_duration_seconds",
      stability: "ALPHA",
      help: "Duration of attempts for pod groups, without the bindings",
      labels: ["result", "profile"],
      buckets: DURATIONS,
    }),
    preemptionAttempts: registry.counter({
      name: "scheduler_preemption_attempts_total",
      stability: "STABLE",
      help: "Preemption attempts",
    }),
    preemptionVictims: registry.histogram({
      name: "scheduler_preemption_victims",
      stability: "STABLE",
      help: "Number of victims of a preemption",
      buckets: [1, 2, 4, 8, 16, 32, 64],
    }),
  };
}

/** Collects gauges when metrics are read. Returns a function that stops it. */
export function collectSizes(
  { registry, pending, cacheSize, unschedulable }: SchedulerMetrics,
  queue: SchedulingQueue,
  state: { readonly nodeCount: number; readonly podCount: number; readonly assumedCount: number },
): () => void {
  return registry.collect(() => {
    for (const [name, size] of Object.entries(queue.sizes)) pending.labels(name).set(size);
    cacheSize.labels("nodes").set(state.nodeCount);
    cacheSize.labels("pods").set(state.podCount);
    cacheSize.labels("assumed_pods").set(state.assumedCount);
    unschedulable.clear();
    for (const { plugin, profile } of queue.rejections()) unschedulable.labels(plugin, profile).inc();
  });
}

/** Counts the work while it runs. */
export async function counted(gauge: Gauge, work: () => Promise<void>): Promise<void> {
  gauge.inc();
  try {
    await work();
  } finally {
    gauge.dec();
  }
}

/** 15 and more attempts share a label. */
export function attemptsLabel(attempts: number): string {
  return attempts >= 15 ? "15+" : String(attempts);
}
