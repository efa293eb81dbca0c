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
      help: "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be scheduled, while 'error' means an internal scheduler problem.",
      labels: ["result", "profile"],
    }),
    attemptSeconds: registry.histogram({
      name: "scheduler_scheduling_attempt_duration_seconds",
      help: "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
      labels: ["result", "profile"],
      buckets: DURATIONS,
    }),
    algorithmSeconds: registry.histogram({
      name: "scheduler_scheduling_algorithm_duration_seconds",
      help: "Scheduling algorithm latency in seconds",
      buckets: DURATIONS,
    }),
    pointSeconds: registry.histogram({
      name: "scheduler_framework_extension_point_duration_seconds",
      help: "Latency for running all plugins of a specific extension point.",
      labels: ["extension_point", "status", "profile"],
      buckets: exponential(0.0001, 2, 12),
    }),
    permitSeconds: registry.histogram({
      name: "scheduler_permit_wait_duration_seconds",
      help: "Duration of waiting on permit.",
      labels: ["result"],
      buckets: DURATIONS,
    }),
    afterFlush: registry.counter({
      name: "scheduler_pod_scheduled_after_flush_total",
      help: "Number of pods that were successfully scheduled after being flushed from unschedulablePods due to timeout. This metric helps detect potential queueing hint misconfigurations or event handling issues.",
    }),
    podSeconds: registry.histogram({
      name: "scheduler_pod_scheduling_sli_duration_seconds",
      help: "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might involve multiple scheduling attempts.",
      labels: ["attempts"],
      buckets: LONG_DURATIONS,
    }),
    podAttempts: registry.histogram({
      name: "scheduler_pod_scheduling_attempts",
      help: "Number of attempts to successfully schedule a pod.",
      buckets: [1, 2, 4, 8, 16],
    }),
    pending: registry.gauge({
      name: "scheduler_pending_pods",
      help: "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' means number of pods in backoffQ; 'unschedulable' means number of pods in unschedulablePods that the scheduler attempted to schedule and failed; 'gated' is the number of unschedulable pods that the scheduler never attempted to schedule because they are gated.",
      labels: ["queue"],
    }),
    incoming: registry.counter({
      name: "scheduler_queue_incoming_pods_total",
      help: "Number of pods added to scheduling queues by event and queue type.",
      labels: ["queue", "event"],
    }),
    cacheSize: registry.gauge({
      name: "scheduler_cache_size",
      help: "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.",
      labels: ["type"],
    }),
    unschedulable: registry.gauge({
      name: "scheduler_unschedulable_pods",
      help: "The number of unschedulable pods broken down by plugin name. A pod will increment the gauge for all plugins that caused it to not schedule and so this metric have meaning only when broken down by plugin.",
      labels: ["plugin", "profile"],
    }),
    preemptionAttempts: registry.counter({
      name: "scheduler_preemption_attempts_total",
      help: "Total preemption attempts in the cluster till now",
    }),
    preemptionVictims: registry.histogram({
      name: "scheduler_preemption_victims",
      help: "Number of selected preemption victims",
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
