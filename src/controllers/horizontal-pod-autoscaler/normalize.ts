/** From a recommendation to a number of replicas: stabilization windows first, then limits. */
import type { autoscaling } from "#api";
import { type History, stabilize, stabilizeBothWays } from "./history.ts";
import { type Bounds, limitByPolicies, limitPlainly } from "./limits.ts";

export interface Normalized {
  readonly replicas: number;
  readonly history: History;
  /** The reason and message of AbleToScale. */
  readonly able: ReasonAndMessage;
  /** Of ScalingLimited. */
  readonly limited: ReasonAndMessage & { readonly isLimited: boolean };
}

export interface ReasonAndMessage {
  readonly reason: string;
  readonly message: string;
}

const READY = { reason: "ReadyForNewScale", message: "recommended size matches current size" };
const STABILIZED_DOWN = {
  reason: "ScaleDownStabilized",
  message: "recent recommendations were higher than current one, applying the highest recent recommendation",
};
const STABILIZED_UP = {
  reason: "ScaleUpStabilized",
  message: "recent recommendations were lower than current one, applying the lowest recent recommendation",
};

export interface Normalizing {
  readonly bounds: Bounds;
  readonly behavior: autoscaling.HorizontalPodAutoscalerBehavior | undefined;
  /** For scaling down, unless the behavior has its own window. */
  readonly downscaleStabilizationMs: number;
  readonly history: History;
  readonly now: number;
}

export function normalize(recommended: number, options: Normalizing): Normalized {
  const { bounds, behavior, downscaleStabilizationMs, history: before, now } = options;
  const { currentReplicas } = bounds;
  const windows = {
    upMs: (behavior?.scaleUp?.stabilizationWindowSeconds ?? 0) * 1000,
    downMs: (behavior?.scaleDown?.stabilizationWindowSeconds ?? Math.trunc(downscaleStabilizationMs / 1000)) * 1000,
  };
  const { replicas: stable, history } =
    behavior === undefined
      ? stabilize(before, recommended, downscaleStabilizationMs, now)
      : stabilizeBothWays(before, currentReplicas, recommended, windows, now);
  const { replicas, ...why } =
    behavior === undefined ? limitPlainly(stable, bounds) : limitByPolicies(stable, bounds, behavior, history, now);
  const isUp = behavior !== undefined && recommended >= currentReplicas;
  return {
    replicas,
    history,
    able: stable === recommended ? READY : isUp ? STABILIZED_UP : STABILIZED_DOWN,
    limited: { ...why, isLimited: replicas !== stable },
  };
}
