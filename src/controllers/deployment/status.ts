/** The status of a Deployment: counts, availability and progress. */
import { type apps, equalJson, type Int64, type Json } from "#api";
import type { ReplicaSet } from "./annotations.ts";
import { type Conditions, conditionOf, replaced, type Said, withCondition, without } from "./conditions.ts";
import { type Deployment, limitsOf, progressDeadlineMs } from "./limits.ts";
import { type Generations, nameOf, sizeOf, total } from "./replica-sets.ts";

export type Status = apps.DeploymentStatus;

/** Counts and the Available condition, without progress. */
export function statusOf(deployment: Deployment, { new: newSet, old }: Generations, now: number): Status {
  const sets = [...old, ...(newSet === undefined ? [] : [newSet])];
  const { replicas, maxUnavailable } = limitsOf(deployment);
  const { collisionCount, conditions = [] } = deployment.status ?? {};
  const available = total(sets, ({ status }) => status?.availableReplicas ?? 0);
  const enough = available >= replicas - maxUnavailable;
  return {
    ...written({
      observedGeneration: deployment.metadata.generation ?? 0,
      replicas: total(sets, ({ status }) => status?.replicas ?? 0),
      updatedReplicas: newSet?.status?.replicas ?? 0,
      readyReplicas: total(sets, ({ status }) => status?.readyReplicas ?? 0),
      availableReplicas: available,
      unavailableReplicas: Math.max(0, total(sets, sizeOf) - available),
    }),
    ...(sets.every(countsTerminating) && {
      terminatingReplicas: total(sets, ({ status }) => status?.terminatingReplicas ?? 0),
    }),
    ...(collisionCount !== undefined && { collisionCount }),
    conditions: withCondition(
      conditions,
      enough
        ? {
            type: "Available",
            status: "True",
            reason: "MinimumReplicasAvailable",
            message: "Deployment has minimum availability.",
          }
        : {
            type: "Available",
            status: "False",
            reason: "MinimumReplicasUnavailable",
            message: "Deployment does not have minimum availability.",
          },
      now,
    ),
  };
}

/** With the Progressing condition. */
export function rolloutStatusOf(deployment: Deployment, generations: Generations, now: number): Status {
  const status = statusOf(deployment, generations, now);
  const progressed = withProgress(deployment, generations.new, status, now);
  const failure = failureOf(generations);
  const conditions = failure === undefined ? without(progressed, "ReplicaFailure") : withFailure(progressed, failure);
  return { ...status, conditions };
}

function withProgress(deployment: Deployment, newSet: ReplicaSet | undefined, status: Status, now: number): Conditions {
  const conditions = status.conditions ?? [];
  if (progressDeadlineMs(deployment) === undefined) return without(conditions, "Progressing");
  const { reason } = conditionOf(deployment.status?.conditions, "Progressing") ?? {};
  // Nothing has changed since the last rollout was complete.
  if (reason === "NewReplicaSetAvailable" && (status.replicas ?? 0) === (status.updatedReplicas ?? 0))
    return conditions;
  const subject = newSet === undefined ? `Deployment "${nameOf(deployment)}"` : `ReplicaSet "${nameOf(newSet)}"`;
  const progressing = (ok: Said["status"], why: string, message: string): Said => ({
    type: "Progressing",
    status: ok,
    reason: why,
    message: `${subject} ${message}`,
  });
  if (isComplete(deployment, status))
    return withCondition(
      conditions,
      progressing("True", "NewReplicaSetAvailable", "has successfully progressed."),
      now,
    );
  if (hasProgressed(deployment.status ?? {}, status))
    return replaced(conditions, progressing("True", "ReplicaSetUpdated", "is progressing."), now);
  if (isTimedOut(deployment, status, now))
    return withCondition(
      conditions,
      progressing("False", "ProgressDeadlineExceeded", "has timed out progressing."),
      now,
    );
  return conditions;
}

export function isComplete({ metadata, spec }: Deployment, status: Status): boolean {
  const replicas = spec?.replicas ?? 1;
  return (
    (status.updatedReplicas ?? 0) === replicas &&
    (status.replicas ?? 0) === replicas &&
    (status.availableReplicas ?? 0) === replicas &&
    (status.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  );
}

function hasProgressed(before: Status, after: Status): boolean {
  const outdated = (status: Status) => (status.replicas ?? 0) - (status.updatedReplicas ?? 0);
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    outdated(after) < outdated(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function isTimedOut(deployment: Deployment, status: Status, now: number): boolean {
  const { reason } = conditionOf(status.conditions, "Progressing") ?? {};
  if (reason === "NewReplicaSetAvailable") return false;
  if (reason === "ProgressDeadlineExceeded") return true;
  return (timedOutAt(deployment, status) ?? now) < now;
}

function timedOutAt(deployment: Deployment, { conditions }: Status): number | undefined {
  const since = conditionOf(conditions, "Progressing")?.lastUpdateTime;
  const deadlineMs = progressDeadlineMs(deployment);
  return since === undefined || deadlineMs === undefined ? undefined : Date.parse(since) + deadlineMs;
}

/** When to check the progress deadline; undefined if no rollout is in progress. */
export function checkAgainMs(deployment: Deployment, status: Status, now: number): number | undefined {
  const { reason } = conditionOf(status.conditions, "Progressing") ?? {};
  if (isComplete(deployment, status) || reason === "ProgressDeadlineExceeded") return undefined;
  const at = timedOutAt(deployment, status);
  return at === undefined ? undefined : Math.max(1_000, at - now + 1_000);
}

/** The ReplicaFailure of the new ReplicaSet, or else of another. */
function failureOf({ new: newSet, old }: Generations) {
  const sets = newSet === undefined ? old : [newSet, ...old];
  return sets.flatMap(({ status }) => status?.conditions ?? []).find(({ type }) => type === "ReplicaFailure");
}

function withFailure(conditions: Conditions, failure: apps.ReplicaSetCondition): Conditions {
  const current = conditionOf(conditions, "ReplicaFailure");
  if (current?.status === failure.status && current.reason === failure.reason) return conditions;
  const since = failure.lastTransitionTime;
  return [
    ...without(conditions, "ReplicaFailure"),
    { ...failure, ...(since !== undefined && { lastUpdateTime: since, lastTransitionTime: since }) },
  ];
}

/** False for a ReplicaSet that its controller has not observed yet. */
function countsTerminating({ status }: ReplicaSet): boolean {
  return status?.terminatingReplicas !== undefined;
}

/** Like the API server writes it: counts of zero are omitted. */
function written(counts: Readonly<Record<string, Int64>>): Status {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
}

export function sameStatus(a: Status, b: Status | undefined): boolean {
  return equalJson(a as unknown as Json, (b ?? {}) as unknown as Json);
}
