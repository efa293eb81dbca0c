/**
 * The conditions of a Deployment.
 *
 * 1. A condition with the same status and reason is not changed, including its message and times.
 * 2. `lastTransitionTime` changes only with the status, `lastUpdateTime` with every change.
 * 3. A changed condition moves to the end.
 */
import type { apps } from "#api";
import type { Deployment } from "./limits.ts";

export type Condition = apps.DeploymentCondition;
export type Conditions = readonly Condition[];

export interface Said {
  readonly type: "Available" | "Progressing" | "ReplicaFailure";
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

export function conditionOf(conditions: Conditions | undefined, type: Said["type"]): Condition | undefined {
  return conditions?.find((each) => each.type === type);
}

export function withCondition(conditions: Conditions, said: Said, now: number): Conditions {
  const current = conditionOf(conditions, said.type);
  if (current?.status === said.status && current.reason === said.reason) return conditions;
  return replaced(conditions, said, now);
}

/** Replaced even with the same status and reason: there was progress, and the deadline starts again. */
export function replaced(conditions: Conditions, said: Said, now: number): Conditions {
  const current = conditionOf(conditions, said.type);
  const at = timeText(now);
  const since = current?.status === said.status ? (current.lastTransitionTime ?? at) : at;
  return [...without(conditions, said.type), { ...said, lastUpdateTime: at, lastTransitionTime: since }];
}

export function without(conditions: Conditions, type: Said["type"]): Conditions {
  return conditions.filter((each) => each.type !== type);
}

/** A Deployment that was paused for longer than its deadline must not fail when it is resumed. */
export function withPause({ spec, status }: Deployment, now: number): Conditions {
  const conditions = status?.conditions ?? [];
  const { reason } = conditionOf(conditions, "Progressing") ?? {};
  if (spec?.progressDeadlineSeconds === undefined || reason === "ProgressDeadlineExceeded") return conditions;
  const paused = spec.paused === true;
  if (paused === (reason === "DeploymentPaused")) return conditions;
  const said = paused
    ? { reason: "DeploymentPaused", message: "Deployment is paused" }
    : { reason: "DeploymentResumed", message: "Deployment is resumed" };
  return withCondition(conditions, { type: "Progressing", status: "Unknown", ...said }, now);
}

export function timeText(now: number): string {
  return `${new Date(now).toISOString().slice(0, 19)}Z`;
}
