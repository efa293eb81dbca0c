/**
 * The writes for a StatefulSet's Pods, in order: create and repair wanted Pods, delete condemned ones, replace outdated
 * ones.
 *
 * 1. OrderedReady: one Pod at a time. An unavailable Pod blocks everything after it, even if it is broken: nothing with
 *    a higher ordinal is created, and nothing is deleted or updated until it is available or deleted.
 * 2. Parallel: creations and deletions do not wait; updates still go one Pod at a time.
 * 3. Condemned Pods are deleted from the highest ordinal down, and only when all wanted Pods are available. Outdated
 *    Pods are replaced from the highest ordinal down to the partition.
 * 4. A failed or finished Pod is deleted, and created again when it is gone.
 */
import { isEnding, isFinished, type Pod } from "../pods/index.ts";
import type { Write } from "../runtime/index.ts";
import { type Claim, claimNeeds, type FindClaim, isStale, ownerWrites } from "./claims.ts";
import {
  hasIdentity,
  isWanted,
  ordinalOf,
  podName,
  replicasOf,
  revisionOf,
  type StatefulSet,
  startOf,
  withIdentity,
} from "./identity.ts";
import { isRunningAndAvailable } from "./status.ts";

export interface Moves {
  readonly claims: readonly { readonly claim: Claim; readonly pod: string }[];
  readonly owners: readonly Write[];
  readonly create: readonly number[];
  readonly update: readonly Pod[];
  readonly delete: readonly Pod[];
  /** Number of deleted Pods that are replaced by the update revision. */
  readonly replaced: number;
  /** Pods that cannot be created because a claim is being deleted. */
  readonly blocked: readonly { readonly pod: string; readonly claims: readonly Claim[] }[];
}

export interface Ordered {
  readonly replicas: readonly { readonly ordinal: number; readonly pod: Pod | undefined }[];
  /** Highest ordinal first. */
  readonly condemned: readonly { readonly ordinal: number; readonly pod: Pod }[];
}

export function inOrdinals(set: StatefulSet, pods: readonly Pod[]): Ordered {
  const byOrdinal = new Map<number, Pod>();
  for (const pod of pods) {
    const ordinal = ordinalOf(set, pod);
    if (ordinal !== undefined) byOrdinal.set(ordinal, pod);
  }
  const replicas = Array.from({ length: replicasOf(set) }, (_, at) => {
    const ordinal = startOf(set) + at;
    return { ordinal, pod: byOrdinal.get(ordinal) };
  });
  const condemned = [...byOrdinal]
    .filter(([ordinal]) => !isWanted(set, ordinal))
    .map(([ordinal, pod]) => ({ ordinal, pod }))
    .sort((a, b) => b.ordinal - a.ordinal);
  return { replicas, condemned };
}

/** `updateRevision`: the name of the revision that all Pods will have in the end. */
export function movesOf(
  set: StatefulSet,
  pods: readonly Pod[],
  updateRevision: string,
  find: FindClaim,
  now: number,
): Moves {
  const moves = new Collected();
  const ordered = inOrdinals(set, pods);
  const isMonotonic = (set.spec?.podManagementPolicy ?? "OrderedReady") !== "Parallel";
  const minReadySeconds = set.spec?.minReadySeconds ?? 0;
  const isUnavailable = (pod: Pod | undefined) =>
    pod === undefined || isEnding(pod) || !isRunningAndAvailable(pod, minReadySeconds, now);

  for (const { ordinal, pod } of ordered.replicas) {
    const stops = pod === undefined ? moves.created(set, ordinal, find) : moves.kept(set, ordinal, pod, find);
    if (isMonotonic && (stops || isUnavailable(pod))) return moves;
  }
  if (moves.blocked.length > 0) return moves;

  for (const { ordinal, pod } of ordered.condemned) moves.owners.push(...ownerWrites(set, pod, ordinal, find));
  const firstUnavailable = [...ordered.replicas, ...ordered.condemned.toReversed()].find(({ pod }) =>
    isUnavailable(pod),
  );
  for (const condemned of ordered.condemned) {
    const { pod } = condemned;
    const waits = isEnding(pod) || (isUnavailable(pod) && condemned !== firstUnavailable);
    if (!waits || (!isMonotonic && !isEnding(pod))) moves.delete.push(pod);
    if (isMonotonic) return moves;
  }

  if (set.spec?.updateStrategy?.type === "OnDelete") return moves;
  const partition = set.spec?.updateStrategy?.rollingUpdate?.partition ?? 0;
  for (const { pod } of ordered.replicas.slice(partition).toReversed()) {
    if (pod !== undefined && revisionOf(pod) !== updateRevision && !isEnding(pod)) {
      if (!moves.delete.includes(pod)) moves.delete.push(pod);
      moves.replaced = 1;
      return moves;
    }
    if (isUnavailable(pod)) return moves;
  }
  return moves;
}

class Collected implements Moves {
  readonly claims: { claim: Claim; pod: string }[] = [];
  readonly owners: Write[] = [];
  readonly create: number[] = [];
  readonly update: Pod[] = [];
  readonly delete: Pod[] = [];
  readonly blocked: { pod: string; claims: readonly Claim[] }[] = [];
  replaced = 0;

  /** Whether a Pod blocks those after it under OrderedReady. */
  created(set: StatefulSet, ordinal: number, find: FindClaim): boolean {
    const pod = podName(set, ordinal);
    if (isStale(set, ordinal, pod, find)) return true;
    const { missing, ending } = claimNeeds(set, ordinal, find);
    this.claims.push(...missing.map((claim) => ({ claim, pod })));
    if (ending.length > 0) this.blocked.push({ pod, claims: ending });
    else this.create.push(ordinal);
    return true;
  }

  kept(set: StatefulSet, ordinal: number, pod: Pod, find: FindClaim): boolean {
    if (isFinished(pod)) {
      if (!isEnding(pod)) this.delete.push(pod);
      return true;
    }
    if (pod.status?.phase === "Pending") {
      const { missing } = claimNeeds(set, ordinal, find);
      this.claims.push(...missing.map((claim) => ({ claim, pod: podName(set, ordinal) })));
    }
    this.owners.push(...ownerWrites(set, pod, ordinal, find));
    if (!hasIdentity(set, pod) && !isEnding(pod)) this.update.push(withIdentity(pod, ordinal));
    return false;
  }
}
