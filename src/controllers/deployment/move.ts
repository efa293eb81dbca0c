/**
 * The next step for the ReplicaSets of a Deployment.
 *
 *     paused, or scaled   sizes follow `replicas`; the rollout does not continue
 *     Recreate            scale old ones to 0, wait until their Pods are gone, then create the new one
 *     RollingUpdate       one step within the limits: see rolling.ts
 */
import type { ReplicaSet } from "./annotations.ts";
import { type Deployment, isRolling, limitsOf } from "./limits.ts";
import { type Generations, isActive, nameOf, newReplicaSet, sizeOf, total } from "./replica-sets.ts";
import { grownSize, rollingStep, type Sizes } from "./rolling.ts";
import { isScaled, scaledSizes } from "./scale.ts";
import { isComplete } from "./status.ts";

export interface Move {
  /** The new ReplicaSet to create, with its size. */
  readonly create?: ReplicaSet;
  /** Sizes of existing ReplicaSets. All that are listed get new annotations, even if their size stays. */
  readonly sizes: Sizes;
  /** Whether old ReplicaSets beyond the history limit may be deleted. */
  readonly cleansUp: boolean;
  /** Whether this is a step of a rollout, whose progress is reported. */
  readonly rollsOut: boolean;
}

const SAME: Sizes = new Map();

/** `hasPods`: whether the ReplicaSet has unfinished Pods, including terminating ones. */
export function moveOf(deployment: Deployment, generations: Generations, hasPods: (set: ReplicaSet) => boolean): Move {
  const { new: newSet, old } = generations;
  const isPaused = deployment.spec?.paused === true;
  if (isPaused || isScaled(deployment, newSet === undefined ? old : [...old, newSet]))
    return { sizes: scaledSizes(deployment, generations), cleansUp: isPaused, rollsOut: false };
  const move = isRolling(deployment) ? rolled(deployment, generations) : recreated(deployment, generations, hasPods);
  const cleansUp = move.sizes.size === 0 && isComplete(deployment, deployment.status ?? {});
  return { ...move, cleansUp, rollsOut: true };
}

type Step = Pick<Move, "create" | "sizes">;

function rolled(deployment: Deployment, { new: newSet, old }: Generations): Step {
  const limits = limitsOf(deployment);
  if (newSet !== undefined) return { sizes: rollingStep(limits, newSet, old) };
  const empty = newReplicaSet(deployment, old);
  const create = sized(empty, grownSize(limits, empty, old));
  return { create, sizes: rollingStep(limits, create, old) };
}

function recreated(
  deployment: Deployment,
  { new: newSet, old }: Generations,
  hasPods: (set: ReplicaSet) => boolean,
): Step {
  const active = old.filter(isActive);
  if (active.length > 0) return { sizes: new Map(active.map((set) => [nameOf(set), 0])) };
  if (total(old, ({ status }) => status?.replicas ?? 0) > 0 || old.some(hasPods)) return { sizes: SAME };
  const { replicas } = limitsOf(deployment);
  if (newSet === undefined) return { create: sized(newReplicaSet(deployment, old), replicas), sizes: SAME };
  return { sizes: sizeOf(newSet) === replicas ? SAME : new Map([[nameOf(newSet), replicas]]) };
}

function sized(set: ReplicaSet, replicas: number): ReplicaSet {
  return set.spec === undefined ? set : { ...set, spec: { ...set.spec, replicas } };
}
