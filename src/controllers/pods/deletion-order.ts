/**
 * Which Pods are deleted first, as documented: unassigned, pending, not ready; lower pod-deletion-cost; more siblings
 * on the node; ready for a shorter time; more restarts; younger.
 */
import type { Pod } from "./pod-state.ts";
import { readyCondition } from "./pod-state.ts";

const COST = "controller.kubernetes.io/pod-deletion-cost";
const PHASES = new Map([
  ["Pending", 0],
  ["Unknown", 1],
  ["Running", 2],
]);

/** Pods to delete come first. `siblings`: active Pods of the same owner on the Pod's node. */
export function inDeletionOrder(pods: readonly Pod[], siblings: (pod: Pod) => number): readonly Pod[] {
  return pods
    .map((pod) => ({ pod, rank: rankOf(pod, siblings(pod)) }))
    .sort(compareRanks)
    .map(({ pod }) => pod);
}

function rankOf(pod: Pod, siblings: number): readonly number[] {
  const ready = readyCondition(pod);
  const isReady = ready?.status === "True";
  return [
    (pod.spec?.nodeName ?? "") === "" ? 0 : 1,
    PHASES.get(pod.status?.phase ?? "") ?? 0,
    isReady ? 1 : 0,
    costOf(pod),
    -siblings,
    isReady ? -timeOf(ready.lastTransitionTime) : 0,
    -Math.max(0, ...(pod.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount ?? 0)),
    -timeOf(pod.metadata.creationTimestamp),
  ];
}

function compareRanks(a: { rank: readonly number[] }, b: { rank: readonly number[] }): number {
  for (const [at, value] of a.rank.entries()) {
    const difference = value - (b.rank[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function costOf({ metadata }: Pod): number {
  const text = metadata.annotations?.[COST] ?? "0";
  return /^-?(0|[1-9]\d*)$/.test(text) ? Number(text) : 0;
}

function timeOf(text: string | undefined): number {
  return text === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(text);
}
