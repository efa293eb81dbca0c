/**
 * The limits of a rollout: at most `replicas + maxSurge` Pods, at least `replicas − maxUnavailable` of them available.
 *
 * maxSurge is rounded up, maxUnavailable is rounded down. If both are 0, maxUnavailable is 1: otherwise a rollout could
 * never make progress.
 */
import { type apps, scaledIntOrString } from "#api";

export type Deployment = apps.Deployment;

export interface Limits {
  readonly replicas: number;
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

export function limitsOf(deployment: Deployment): Limits {
  const { spec } = deployment;
  const replicas = spec?.replicas ?? 1;
  if (!isRolling(deployment)) return { replicas, maxSurge: 0, maxUnavailable: 0 };
  const { maxSurge = "25%", maxUnavailable = "25%" } = spec?.strategy?.rollingUpdate ?? {};
  const surge = scaledIntOrString(maxSurge, replicas, "up");
  const missing = scaledIntOrString(maxUnavailable, replicas, "down");
  const allowed = surge === 0 && missing === 0 ? 1 : missing;
  return { replicas, maxSurge: surge, maxUnavailable: Math.min(allowed, replicas) };
}

export function isRolling({ spec }: Deployment): boolean {
  return (spec?.strategy?.type ?? "RollingUpdate") === "RollingUpdate";
}

/** The largest int32 is the legacy form of "no deadline". */
const NEVER = 2 ** 31 - 1;

export function progressDeadlineMs({ spec }: Deployment): number | undefined {
  const seconds = spec?.progressDeadlineSeconds;
  return seconds === undefined || seconds === NEVER ? undefined : seconds * 1000;
}

export function historyLimit({ spec }: Deployment): number | undefined {
  const limit = spec?.revisionHistoryLimit;
  return limit === undefined || limit === NEVER ? undefined : limit;
}
