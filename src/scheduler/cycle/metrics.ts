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
    podSeconds: registry.histogram({
      name: "scheduler_pod_scheduling_sli_duration_seconds",
      help: "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue an d might involve multiple scheduling attempts.",
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
      name: "scheduler_scheduler_cache_size",
      help: "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.",
      labels: ["type"],
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
  { registry, pending, cacheSize }: SchedulerMetrics,
  queue: SchedulingQueue,
  state: { readonly nodeCount: number; readonly podCount: number },
): () => void {
  return registry.collect(() => {
    for (const [name, size] of Object.entries(queue.sizes)) pending.labels(name).set(size);
    cacheSize.labels("nodes").set(state.nodeCount);
    cacheSize.labels("pods").set(state.podCount);
  });
}

/** 15 and more are one. */
export function attemptsLabel(attempts: number): string {
  return attempts >= 15 ? "15+" : String(attempts);
}
