/**
 * Distributes a change of `replicas` among the ReplicaSets.
 *
 *     one or none active          it gets all
 *     the new one is saturated    the others get none
 *     several, while rolling      each gets its proportion, so that the risk of the rollout stays the same
 */
import { desiredReplicas, maxReplicas, type ReplicaSet } from "./annotations.ts";
import { type Deployment, isRolling, limitsOf } from "./limits.ts";
import { byAge, compareAge, type Generations, isActive, nameOf, sizeOf, total } from "./replica-sets.ts";
import type { Sizes } from "./rolling.ts";

/** Whether an active ReplicaSet was sized for another number of replicas. */
export function isScaled(deployment: Deployment, sets: readonly ReplicaSet[]): boolean {
  const { replicas } = limitsOf(deployment);
  return sets.some((set) => isActive(set) && (desiredReplicas(set) ?? replicas) !== replicas);
}

/** Sizes of all ReplicaSets that need the new annotation, even if their size stays. */
export function scaledSizes(deployment: Deployment, { new: newSet, old }: Generations): Sizes {
  const { replicas } = limitsOf(deployment);
  const all = [...old, ...(newSet === undefined ? [] : [newSet])];
  const active = all.filter(isActive);
  const only = active.length > 1 ? undefined : (active[0] ?? newSet ?? byAge(old).at(-1));
  if (only !== undefined) return new Map([[nameOf(only), replicas]]);
  if (newSet !== undefined && isSaturated(deployment, newSet))
    return new Map(old.filter(isActive).map((set) => [nameOf(set), 0]));
  if (!isRolling(deployment)) return new Map(active.map((set) => [nameOf(set), sizeOf(set)]));
  return shares(deployment, active);
}

function isSaturated(deployment: Deployment, set: ReplicaSet): boolean {
  const { replicas } = limitsOf(deployment);
  return (
    sizeOf(set) === replicas && desiredReplicas(set) === replicas && (set.status?.availableReplicas ?? 0) === replicas
  );
}

/** Largest first: it gets the rounding remainder. Among equals, newer ones grow and older ones shrink first. */
function shares(deployment: Deployment, active: readonly ReplicaSet[]): Sizes {
  const { replicas, maxSurge } = limitsOf(deployment);
  const allowed = replicas > 0 ? replicas + maxSurge : 0;
  const toAdd = allowed - total(active, sizeOf);
  const newestFirst = toAdd > 0 ? -1 : 1;
  const ordered = [...active].sort((a, b) => sizeOf(b) - sizeOf(a) || newestFirst * compareAge(a, b));
  let added = 0;
  const sizes = new Map(
    ordered.map((set) => {
      const share = toAdd === 0 ? 0 : shareOf(deployment, set, toAdd - added);
      added += share;
      return [nameOf(set), sizeOf(set) + share];
    }),
  );
  const [largest] = ordered;
  if (largest !== undefined) {
    const name = nameOf(largest);
    sizes.set(name, Math.max(0, (sizes.get(name) ?? 0) + toAdd - added));
  }
  return sizes;
}

/** `left`: what is still to be added or removed. */
function shareOf(deployment: Deployment, set: ReplicaSet, left: number): number {
  const { replicas, maxSurge } = limitsOf(deployment);
  if (left === 0) return 0;
  const before = maxReplicas(set) || (deployment.status?.replicas ?? 0);
  if (before === 0 && replicas > 0) return 0;
  const share = (replicas === 0 ? 0 : Math.round((sizeOf(set) * (replicas + maxSurge)) / before)) - sizeOf(set);
  return left > 0 ? Math.min(share, left) : Math.max(share, left);
}
