/** What is measured, under the original's names. */
import type { MetricsRegistry } from "#base";
import type { SchedulingQueue } from "../queue/index.ts";

const DURATIONS = exponential(0.001, 2, 15);
const LONG_DURATIONS = exponential(0.01, 2, 20);

function exponential(start: number, factor: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => start * factor ** at);
}

export type SchedulerMetrics = ReturnType<typeof schedulerMetrics>;

/** Made once for a registry: a scheduler that is elected a second time goes on counting. */
export function schedulerMetrics(registry: MetricsRegistry) {
  return {
    registry,
    attempts: registry.counter({
      name: "scheduler_schedule_attempts_total",
      help: "Attempts to place pods, by what came of them: unschedulable, where no node would do; error, where something failed.",
      labels: ["result", "profile"],
    }),
    attemptSeconds: registry.histogram({
      name: "scheduler_scheduling_attempt_duration_seconds",
      help: "How long attempts took, from the choice of a node to the binding",
      labels: ["result", "profile"],
      buckets: DURATIONS,
    }),
    algorithmSeconds: registry.histogram({
      name: "scheduler_scheduling_algorithm_duration_seconds",
      help: "How long it took to choose a node",
      buckets: DURATIONS,
    }),
    pointSeconds: registry.histogram({
      name: "scheduler_framework_extension_point_duration_seconds",
      help: "How long the plugins of an extension point took, all together",
      labels: ["extension_point", "status", "profile"],
      buckets: exponential(0.0001, 2, 12),
    }),
    permitSeconds: registry.histogram({
      name: "scheduler_permit_wait_duration_seconds",
      help: "How long pods waited for a permit",
      labels: ["result"],
      buckets: DURATIONS,
    }),
    afterFlush: registry.counter({
      name: "scheduler_pod_scheduled_after_flush_total",
      help: "Pods that found a node when they were tried again because time had passed: no event had woken them.",
    }),
    podSeconds: registry.histogram({
      name: "scheduler_pod_scheduling_sli_duration_seconds",
      help: "How long pods took to get a node, over all their attempts, from the moment in which they could first be tried",
      labels: ["attempts"],
      buckets: LONG_DURATIONS,
    }),
    podAttempts: registry.histogram({
      name: "scheduler_pod_scheduling_attempts",
      help: "How many attempts pods needed",
      buckets: [1, 2, 4, 8, 16],
    }),
    pending: registry.gauge({
      name: "scheduler_pending_pods",
      help: "Pods without a node: active, to be tried next; backoff, after a while; unschedulable, when something changes; gated, not before their gates are open.",
      labels: ["queue"],
    }),
    incoming: registry.counter({
      name: "scheduler_queue_incoming_pods_total",
      help: "Pods that came into a queue, and by which event",
      labels: ["queue", "event"],
    }),
    cacheSize: registry.gauge({
      name: "scheduler_cache_size",
      help: "Nodes, pods, and pods that are being bound, as the scheduler knows them",
      labels: ["type"],
    }),
    unschedulable: registry.gauge({
      name: "scheduler_unschedulable_pods",
      help: "Pods that a plugin keeps from being placed. One that several keep counts for each of them.",
      labels: ["plugin", "profile"],
    }),
    preemptionAttempts: registry.counter({
      name: "scheduler_preemption_attempts_total",
      help: "How often room was to be made for a pod",
    }),
    preemptionVictims: registry.histogram({
      name: "scheduler_preemption_victims",
      help: "How many pods had to go for one that is more important",
      buckets: [1, 2, 4, 8, 16, 32, 64],
    }),
  };
}

/** What is read rather than counted. Returns how to end that. */
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

/** 15 and more are one. */
export function attemptsLabel(attempts: number): string {
  return attempts >= 15 ? "15+" : String(attempts);
}
