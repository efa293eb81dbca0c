/** The status of a StatefulSet. */
import { type apps, equalJson, type Int64, type Json } from "#api";
import { isAvailable, isEnding, isReady, type Pod } from "../pods/index.ts";
import type { History } from "./history.ts";
import { nameOf, replicasOf, revisionOf, type StatefulSet } from "./identity.ts";

export type Status = apps.StatefulSetStatus;

export function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === "Running" && isReady(pod);
}

export function isRunningAndAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  return isRunningAndReady(pod) && isAvailable(pod, minReadySeconds, now);
}

/** `replaced`: Pods of the current revision that are being replaced. */
export function statusOf(
  set: StatefulSet,
  pods: readonly Pod[],
  { current, update, collisionCount }: History,
  replaced: number,
  now: number,
): Status {
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const staying = pods.filter((pod) => !isEnding(pod));
  const ready = pods.filter(isRunningAndReady).length;
  const updated = staying.filter((pod) => revisionOf(pod) === nameOf(update)).length;
  const counted = staying.filter((pod) => revisionOf(pod) === nameOf(current)).length - replaced;
  const isDone = isRolledOut(set, pods.length, ready, updated);
  const conditions = set.status?.conditions;
  return {
    replicas: pods.length,
    availableReplicas: pods.filter((pod) => isRunningAndAvailable(pod, minReadySeconds, now)).length,
    ...written({
      observedGeneration: set.metadata.generation ?? 0,
      readyReplicas: ready,
      currentReplicas: isDone ? updated : counted,
      updatedReplicas: updated,
    }),
    currentRevision: nameOf(isDone ? update : current),
    updateRevision: nameOf(update),
    collisionCount,
    ...(conditions && { conditions }),
  };
}

/** The update revision becomes the current one when all Pods have it. */
function isRolledOut(set: StatefulSet, pods: number, ready: number, updated: number): boolean {
  const replicas = replicasOf(set);
  const isRolling = (set.spec?.updateStrategy?.type ?? "RollingUpdate") === "RollingUpdate";
  return isRolling && updated === replicas && ready === replicas && pods === replicas;
}

/** Like the API server writes it: counts of zero are omitted. */
function written(counts: Readonly<Record<string, Int64>>): Partial<Status> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
}

export function sameStatus(a: Status, b: Status | undefined): boolean {
  return equalJson(a as unknown as Json, (b ?? {}) as unknown as Json);
}
