/**
 * What a Deployment writes onto its ReplicaSets: which revision they are, which they were, and for how many replicas they were last sized.
 *
 * 1. The new ReplicaSet has the highest revision. One that is rolled back to gets the next number and keeps its old ones as its history.
 * 2. The Deployment's own annotations are copied, except for those that are about the Deployment itself; nothing is taken away.
 */
import type { apps } from "#api";
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

export function revisionOf({ metadata }: Pick<ReplicaSet, "metadata">): number {
  return numberIn(metadata.annotations, REVISION) ?? 0;
}

/** For how many replicas it was last sized; undefined if nobody has said. */
export function desiredReplicas({ metadata }: ReplicaSet): number | undefined {
  return numberIn(metadata.annotations, DESIRED_REPLICAS);
}

export function maxReplicas({ metadata }: ReplicaSet): number | undefined {
  return numberIn(metadata.annotations, MAX_REPLICAS);
}

/** Those of the new ReplicaSet, which is to be this revision. */
export function newSetAnnotations(deployment: Deployment, existing: Annotations = {}, revision: number): Annotations {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(([key]) => !OWN.has(key));
  const annotations = { ...existing, ...Object.fromEntries(copied) };
  const old = existing[REVISION];
  // What is no number was not written by us: it stays.
  if (old !== undefined && old !== "" && !/^-?\d+$/.test(old)) return annotations;
  if (Number(old ?? 0) >= revision) return annotations;
  if (old === undefined) return { ...annotations, [REVISION]: String(revision) };
  const history = historyWith(existing[REVISION_HISTORY] ?? "", old);
  return {
    ...annotations,
    [REVISION]: String(revision),
    ...(history !== undefined && { [REVISION_HISTORY]: history }),
  };
}

/** For how many replicas it is sized. */
export function sizeAnnotations(deployment: Deployment): Annotations {
  const { replicas, maxSurge } = limitsOf(deployment);
  return { [DESIRED_REPLICAS]: String(replicas), [MAX_REPLICAS]: String(replicas + maxSurge) };
}

/** The oldest are forgotten where it would become too long. */
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
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : undefined;
}
