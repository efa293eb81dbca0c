/**
 * Scaling to zero and from it: the feature gate HPAScaleToZero.
 *
 * 1. Only what this controller has scaled to zero is scaled up again: the condition ScaledToZero says so, and it
 *    outlives the controller. What somebody else has scaled to zero is switched off, and stays so.
 * 2. Without Pods, metrics of Pods measure nothing: a metric of an object, or an external one, is needed.
 */
import type { autoscaling } from "#api";
import type { AutoscalerSettings } from "./settings.ts";

type Hpa = autoscaling.HorizontalPodAutoscaler;

/** Why a target without replicas is or is not looked at. */
export type AtZero =
  /** It is switched off. */
  | "disabled"
  /** Scaled to zero by this controller, from where metrics lead. */
  | "waiting"
  /** The same, but meanwhile the minimum has been raised. */
  | "below-minimum";

export function atZero(hpa: Hpa, { scaleToZero }: Pick<AutoscalerSettings, "scaleToZero">): AtZero {
  const wasScaled = hpa.status?.conditions?.some(({ type, status }) => type === "ScaledToZero" && status === "True");
  if (!scaleToZero || wasScaled !== true) return "disabled";
  if ((hpa.spec.minReplicas ?? 1) !== 0) return "below-minimum";
  return measuresWithoutPods(hpa) ? "waiting" : "disabled";
}

/** The condition ScaledToZero after the target was scaled. Undefined: without the gate there is none. */
export function scaledToZero(
  hpa: Hpa,
  before: number,
  after: number,
  { scaleToZero }: Pick<AutoscalerSettings, "scaleToZero">,
): { readonly isTrue: boolean; readonly reason: string; readonly message: string } | undefined {
  if (!scaleToZero) return undefined;
  return before > 0 && after === 0 && hpa.spec.minReplicas === 0 && measuresWithoutPods(hpa)
    ? { isTrue: true, reason: "ScaledToZero", message: "the HPA controller scaled the workload to zero" }
    : { isTrue: false, reason: "NotScaledToZero", message: "the HPA controller did not scale the workload to zero" };
}

function measuresWithoutPods({ spec: { metrics = [] } }: Hpa): boolean {
  return metrics.some(({ type }) => type === "Object" || type === "External");
}
