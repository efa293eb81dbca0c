/**
 * How long a ReplicaSet waits before it replaces Pods that nodes have rejected. Pure.
 *
 * A node rejects what passed by the scheduler, or what the scheduler counts in another way. Replacements meet the same
 * fate, as fast as they are made; Kubernetes makes hundreds in minutes. Here each further round waits longer, up to
 * five minutes. Pods that have run, and Pods that are evicted, are replaced at once.
 */
import type { Pod } from "../pods/index.ts";

const FIRST_MS = 1000;
const LONGEST_MS = 5 * 60_000;
/** Rejections that are older are forgotten. */
const MEMORY_MS = 30 * 60_000;
const REJECTED = "Pod was rejected: ";

/** When the next Pods may be created, in ms from now; 0: at once. */
export function replacementDelayMs(owned: readonly Pod[], replicas: number, now: number): number {
  const times = owned.filter(isRejected).map(({ metadata }) => Date.parse(metadata.creationTimestamp ?? ""));
  const recent = times.filter((at) => now - at < MEMORY_MS);
  // Each round makes as many as are missing: at most as many as are wanted.
  const rounds = Math.ceil(recent.length / Math.max(1, replicas));
  if (rounds <= 1) return 0;
  const delayMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** (rounds - 2));
  return Math.max(0, Math.max(...recent) + delayMs - now);
}

/** By a node, before any of its containers ran. */
function isRejected({ status }: Pod): boolean {
  return (
    status?.phase === "Failed" &&
    status.message?.startsWith(REJECTED) === true &&
    (status.containerStatuses ?? []).length === 0
  );
}
