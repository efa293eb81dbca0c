/**
 * The annotations that a Deployment writes to its ReplicaSets: revision, revision history, and desired replicas.
 *
 * 1. The new ReplicaSet has the highest revision. After a rollback, a ReplicaSet gets the next number and keeps its
 *    former ones as history.
 * 2. The Deployment's annotations are copied, except those about the Deployment itself. None are removed.
 */
import { type apps, type Int64, parseInt64 } from "#api";
import { type Deployment, limitsOf } from "./limits.ts";

export type ReplicaSet = apps.ReplicaSet;

export const REVISION = "deployment.kubernetes.io/revision";
export const REVISION_HISTORY = "deployment.kubernetes.io/revision-history";
export const DESIRED_REPLICAS = "deployment.kubernetes.io/desired-replicas";
export const MAX_REPLICAS = "deployment.kubernetes.io/max-replicas";

const MAX_HISTORY_LENGTH = 2000;
const OWN = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  "deprecated.deployment.rollback.to",
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
]);

type Annotations = Readonly<Record<string, string>>;

export function revisionOf({ metadata }: Pick<ReplicaSet, "metadata">): Int64 {
  return parseInt64(metadata.annotations?.[REVISION] ?? "") ?? 0;
}

/** The desired replicas at its last scaling; undefined if the annotation is missing. */
export function desiredReplicas({ metadata }: ReplicaSet): number | undefined {
  return numberIn(metadata.annotations, DESIRED_REPLICAS);
}

export function maxReplicas({ metadata }: ReplicaSet): number | undefined {
  return numberIn(metadata.annotations, MAX_REPLICAS);
}

/** The annotations of the new ReplicaSet with this revision. */
export function newSetAnnotations(deployment: Deployment, existing: Annotations = {}, revision: Int64): Annotations {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !OWN.has(key));
  const annotations = { ...existing, ...Object.fromEntries(copied) };
  const old = existing[REVISION];
  const before = old === undefined || old === "" ? 0 : parseInt64(old);
  // A value that is not a number was not written by us: it stays.
  if (before === undefined || before >= revision) return annotations;
  if (old === undefined) return { ...annotations, [REVISION]: String(revision) };
  const history = historyWith(existing[REVISION_HISTORY] ?? "", old);
  return {
    ...annotations,
    [REVISION]: String(revision),
    ...(history !== undefined && { [REVISION_HISTORY]: history }),
  };
}

/** The annotations about its size. */
export function sizeAnnotations(deployment: Deployment): Annotations {
  const { replicas, maxSurge } = limitsOf(deployment);
  return { [DESIRED_REPLICAS]: String(replicas), [MAX_REPLICAS]: String(replicas + maxSurge) };
}

/** The oldest entries are dropped if it would become too long. */
function historyWith(history: string, revision: string): string | undefined {
  if (history === "") return revision;
  const past = history.split(",");
  let length = history.length + revision.length + 1;
  let start = 0;
  while (length > MAX_HISTORY_LENGTH && start < past.length) length -= (past[start++]?.length ?? 0) + 1;
  return length > MAX_HISTORY_LENGTH ? undefined : [...past.slice(start), revision].join(",");
}

function numberIn(annotations: Annotations | undefined, key: string): number | undefined {
  const text = annotations?.[key];
  const value = text === undefined ? undefined : parseInt64(text);
  return value !== undefined && Math.abs(Number(value)) < 2 ** 31 ? Number(value) : undefined;
}
