/**
 * Graceful node shutdown: Pods end in order of their priority, the lowest first, each group within its own grace
 * period.
 *
 *     Pods ──► groups by priority ──► (evict a group, wait until it has ended or its period is over) ──► next group
 */
import type { core } from "#api";
import type { Clock, Logger } from "#base";
import { podGraceSeconds } from "../lifecycle/index.ts";
import { timestamp } from "../pod-status/index.ts";
import type { PodWorkers } from "../pods/index.ts";

/** The grace period of Pods with this priority or a higher one, up to the next entry. */
export interface ShutdownPeriod {
  readonly priority: number;
  readonly seconds: number;
}

export const SHUTDOWN_REJECTION = {
  reason: "NodeShutdown",
  message: "Pod was rejected as the node is shutting down.",
};
const CRITICAL_PRIORITY = 2_000_000_000;
const TERMINATED = { reason: "Terminated", message: "Pod was terminated in response to imminent node shutdown." };
const POLL_MS = 100;

/** From `shutdownGracePeriod` and its part for critical Pods. Empty if there is no grace period. Pure. */
export function shutdownPeriods(totalSeconds: number, criticalSeconds: number): readonly ShutdownPeriod[] {
  if (totalSeconds <= 0) return [];
  return [
    { priority: 0, seconds: totalSeconds - criticalSeconds },
    { priority: CRITICAL_PRIORITY, seconds: criticalSeconds },
  ];
}

/** Each Pod belongs to the highest entry that its priority reaches; if it reaches none, to the lowest. Pure. */
export function shutdownGroups<T extends { readonly pod: core.Pod }>(
  pods: readonly T[],
  periods: readonly ShutdownPeriod[],
): readonly { readonly seconds: number; readonly pods: readonly T[] }[] {
  const ascending = [...periods].sort((a, b) => a.priority - b.priority);
  const groupOf = ({ pod }: T) =>
    Math.max(
      0,
      ascending.findLastIndex(({ priority }) => priority <= (pod.spec?.priority ?? 0)),
    );
  return ascending.map(({ seconds }, index) => ({ seconds, pods: pods.filter((each) => groupOf(each) === index) }));
}

export interface ShutdownOptions {
  readonly workers: Pick<PodWorkers, "list">;
  readonly periods: readonly ShutdownPeriod[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Resolves when every Pod has ended or its grace period is over. */
export async function shutDownPods(options: ShutdownOptions, signal: AbortSignal): Promise<void> {
  const { workers, periods, clock, log } = options;
  const living = workers.list().filter(({ state }) => state === "syncing" || state === "terminating");
  for (const { seconds, pods } of shutdownGroups(living, periods)) {
    if (pods.length === 0) continue;
    log.info("ending pods: the node is shutting down", { pods: pods.length, seconds });
    const condition: core.PodCondition = {
      type: "DisruptionTarget",
      status: "True",
      reason: "TerminationByKubelet",
      message: TERMINATED.message,
      lastTransitionTime: timestamp(clock.now()),
    };
    for (const worker of pods) {
      worker.evict(TERMINATED, Math.min(seconds, podGraceSeconds(worker.pod)), [condition]);
    }
    const deadline = clock.monotonic() + seconds * 1000;
    const isEnding = () => pods.some(({ state }) => state === "syncing" || state === "terminating");
    while (isEnding() && clock.monotonic() < deadline) await clock.sleep(POLL_MS, signal);
  }
}
