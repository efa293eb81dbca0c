/** The progress of a workload's rollout, in the same terms for all kinds. */
import type { apps, batch } from "#api";
import type { Tone } from "./pod.ts";

export interface Progress {
  readonly desired: number;
  /** Of the newest template. */
  readonly updated: number;
  readonly ready: number;
  readonly words: string;
  readonly tone: Tone;
}

type Condition = {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
};

export function deploymentProgress({ metadata, spec, status }: apps.Deployment): Progress {
  const desired = spec?.replicas ?? 1;
  const updated = status?.updatedReplicas ?? 0;
  const ready = status?.readyReplicas ?? 0;
  const progressing = conditionOf(status?.conditions, "Progressing");
  const counts = { desired, updated, ready };
  if (spec?.paused === true) return { ...counts, words: "paused", tone: "quiet" };
  if (progressing?.reason === "ProgressDeadlineExceeded")
    return { ...counts, words: "stuck: progress deadline exceeded", tone: "bad" };
  if (isUnseen(metadata?.generation, status?.observedGeneration))
    return { ...counts, words: "waiting for its controller", tone: "busy" };
  const old = (status?.replicas ?? 0) - updated;
  if (updated < desired) return { ...counts, words: `${updated} of ${desired} updated`, tone: "busy" };
  if (old > 0) return { ...counts, words: `${old} old left`, tone: "busy" };
  return { ...counts, ...readiness(status?.availableReplicas ?? 0, desired) };
}

export function statefulSetProgress({ metadata, spec, status }: apps.StatefulSet): Progress {
  const desired = spec?.replicas ?? 1;
  const isNewest = status?.currentRevision === status?.updateRevision;
  const updated = isNewest ? (status?.currentReplicas ?? 0) : (status?.updatedReplicas ?? 0);
  const counts = { desired, updated, ready: status?.readyReplicas ?? 0 };
  if (isUnseen(metadata?.generation, status?.observedGeneration))
    return { ...counts, words: "waiting for its controller", tone: "busy" };
  if (updated < desired) return { ...counts, words: `${updated} of ${desired} updated`, tone: "busy" };
  return { ...counts, ...readiness(counts.ready, desired) };
}

export function daemonSetProgress({ metadata, status }: apps.DaemonSet): Progress {
  const desired = status?.desiredNumberScheduled ?? 0;
  const updated = status?.updatedNumberScheduled ?? 0;
  const counts = { desired, updated, ready: status?.numberReady ?? 0 };
  if (isUnseen(metadata?.generation, status?.observedGeneration))
    return { ...counts, words: "waiting for its controller", tone: "busy" };
  if (updated < desired) return { ...counts, words: `${updated} of ${desired} updated`, tone: "busy" };
  return { ...counts, ...readiness(status?.numberAvailable ?? 0, desired) };
}

export function replicaSetProgress({ spec, status }: apps.ReplicaSet): Progress {
  const desired = spec?.replicas ?? 1;
  const counts = { desired, updated: status?.replicas ?? 0, ready: status?.readyReplicas ?? 0 };
  return { ...counts, ...readiness(counts.ready, desired) };
}

export function jobProgress({ spec, status }: batch.Job): Progress {
  const desired = spec?.completions ?? 1;
  const done = status?.succeeded ?? 0;
  const counts = { desired, updated: done + (status?.active ?? 0), ready: done };
  const failed = conditionOf(status?.conditions, "Failed");
  if (failed?.status === "True") return { ...counts, words: `failed: ${failed.reason ?? ""}`, tone: "bad" };
  if (conditionOf(status?.conditions, "Complete")?.status === "True")
    return { ...counts, words: "complete", tone: "quiet" };
  if (spec?.suspend === true) return { ...counts, words: "suspended", tone: "quiet" };
  return { ...counts, words: `${done} of ${desired} done`, tone: "busy" };
}

function isUnseen(generation: bigint | number = 0, observed: bigint | number = 0): boolean {
  return observed < generation;
}

function readiness(available: number, desired: number): Pick<Progress, "words" | "tone"> {
  if (available < desired) return { words: `${available} of ${desired} available`, tone: "busy" };
  return desired === 0 ? { words: "scaled to zero", tone: "quiet" } : { words: "available", tone: "good" };
}

function conditionOf(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((each) => each.type === type);
}
