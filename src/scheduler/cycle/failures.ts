/** Handles a failed attempt: returns the pod to the queue, records an Event, and updates the pod's status. */
import { type core, isStatusError } from "#api";
import { revisionOf } from "#client";
import { patchStatus } from "../framework/index.ts";
import type { Failure, QueuedPod } from "../queue/index.ts";
import type { Parts } from "./parts.ts";

export interface FailedAttempt {
  readonly queued: QueuedPod;
  readonly schedulerName: string;
  readonly failure: Failure;
  readonly message: string;
  /** A node to nominate; empty: removes the nomination; undefined: leaves it. */
  readonly nominate?: string | undefined;
  /** The nomination in the pod's status, if it is newer than the cache. */
  readonly published?: string | undefined;
  readonly startedMs: number;
  /** The explanation is recorded already. */
  readonly isExplained?: boolean;
}

export function handleFailure(parts: Parts, failed: FailedAttempt): void {
  const { queue, state, metrics, clock, client, events, works, signal, runInBackground } = parts;
  const { queued, schedulerName, failure, message, nominate, published, startedMs } = failed;
  const { pod } = queued;
  const result = failure.kind === "rejected" ? "unschedulable" : "error";
  metrics.attempts.labels(result, schedulerName).inc();
  metrics.attemptSeconds.labels(result, schedulerName).observe((clock.monotonic() - startedMs) / 1000);
  if (failed.isExplained !== true) explain(parts, failed);
  // A deleted pod has left the queue; a pod that another scheduler has bound already has its node.
  if (queue.get(pod.uid) !== queued) return;
  if (state.placeOf(pod.uid) !== undefined) {
    queue.done(pod.uid);
    return;
  }
  if (nominate === "") state.removeNomination(pod.uid);
  else if (nominate !== undefined) state.nominate(pod, nominate);
  const woken = [pod.pod, ...(queued.wokenBy === undefined ? [] : [queued.wokenBy])].map(revisionOf);
  queue.failed(pod.uid, failure);
  events(schedulerName).record({
    about: pod.pod,
    type: "Warning",
    reason: "FailedScheduling",
    action: "Scheduling",
    note: message,
  });
  const reason = failure.kind === "rejected" ? "Unschedulable" : "SchedulerError";
  const change = {
    condition: { type: "PodScheduled", status: "False", reason, message } as const,
    nominatedNodeName: nominate,
  };
  const startedAt = clock.now() - (clock.monotonic() - startedMs);
  const cause = () => works.cause({ about: pod.key, resource: "pods", woken, startedAt, decided: message });
  const current = published === undefined ? pod : { ...pod, pod: nominatedTo(published, pod.pod) };
  runInBackground(`the status of ${pod.key}`, () => patchStatus(client, clock, current, change, signal, cause));
}

function nominatedTo(nominatedNodeName: string, pod: core.Pod): core.Pod {
  return { ...pod, status: { ...pod.status, nominatedNodeName } };
}

function explain({ explanations, state, clock }: Parts, { queued, failure, message }: FailedAttempt): void {
  const kind = failure.kind === "rejected" ? "unschedulable" : "error";
  explanations.addFailure(queued.pod, {
    atMs: clock.now(),
    attempt: queued.attempts,
    nodeCount: state.nodeCount,
    outcome: { kind, message },
  });
}

/** The extension point and plugin that runs; empty if none does. */
export interface Step {
  point: string;
  plugin: string;
}

/** The error message, prefixed with the plugin that failed. */
export function messageOf(error: unknown, { point, plugin }: Step = { point: "", plugin: "" }): string {
  const message = error instanceof Error ? error.message : String(error);
  return point === "" ? message : `running ${point} plugin ${JSON.stringify(plugin)}: ${message}`;
}

/** Whether the API server has refused the request: then nothing was written. */
export function isRefusal(error: unknown): boolean {
  return isStatusError(error) && error.code >= 400 && error.code < 500 && error.code !== 408 && error.code !== 429;
}
