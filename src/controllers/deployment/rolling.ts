/**
 * One step of a rolling update: scale up the new ReplicaSet as far as the surge allows; otherwise scale down old ones
 * as far as enough Pods stay available.
 *
 * 1. All ReplicaSets together never have more than `replicas + maxSurge` Pods.
 * 2. Scaling down never leaves fewer than `replicas − maxUnavailable` available Pods.
 * 3. Unavailable Pods are deleted first: they would block the rollout.
 */
import type { ReplicaSet } from "./annotations.ts";
import type { Limits } from "./limits.ts";
import { availableOf, byAge, isActive, nameOf, podsOf, sizeOf, total } from "./replica-sets.ts";

/** New sizes by name. Other ReplicaSets stay as they are. */
export type Sizes = ReadonlyMap<string, number>;

export function rollingStep(limits: Limits, newSet: ReplicaSet, old: readonly ReplicaSet[]): Sizes {
  const grown = grownSize(limits, newSet, old);
  if (grown !== sizeOf(newSet)) return new Map([[nameOf(newSet), grown]]);
  return shrunkSizes(limits, newSet, byAge(old.filter(isActive)));
}

/** The size of the new ReplicaSet now. It may also shrink, if the Deployment was scaled down. */
export function grownSize({ replicas, maxSurge }: Limits, newSet: ReplicaSet, old: readonly ReplicaSet[]): number {
  const size = sizeOf(newSet);
  if (size >= replicas) return replicas;
  const room = replicas + maxSurge - total([newSet, ...old], podsOf);
  return room <= 0 ? size : size + Math.min(room, replicas - size);
}

function shrunkSizes({ replicas, maxUnavailable }: Limits, newSet: ReplicaSet, old: readonly ReplicaSet[]): Sizes {
  const all = [newSet, ...old];
  const minAvailable = replicas - maxUnavailable;
  const notYetAvailable = sizeOf(newSet) - availableOf(newSet);
  const spare = total(all, sizeOf) - minAvailable - notYetAvailable;
  const sizes = new Map<string, number>();
  if (spare <= 0) return sizes;
  const sizeNow = (set: ReplicaSet) => sizes.get(nameOf(set)) ?? sizeOf(set);

  let left = spare;
  for (const set of old) {
    const missed = Math.min(left, sizeOf(set) - availableOf(set));
    if (missed <= 0) continue;
    sizes.set(nameOf(set), sizeOf(set) - missed);
    left -= missed;
  }
  left = total(all, availableOf) - minAvailable;
  for (const set of old) {
    const taken = Math.min(left, sizeNow(set));
    if (taken <= 0) continue;
    sizes.set(nameOf(set), sizeNow(set) - taken);
    left -= taken;
  }
  return sizes;
}
