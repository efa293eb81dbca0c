/** Taints and tolerations. */
import type { core } from "#api";

export function tolerates(toleration: core.Toleration, taint: core.Taint): boolean {
  const { key = "", operator = "Equal", value = "", effect } = toleration;
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  return operator === "Exists" || (operator === "Equal" && value === (taint.value ?? ""));
}

export function isTolerated(taint: core.Taint, tolerations: readonly core.Toleration[]): boolean {
  return tolerations.some((toleration) => tolerates(toleration, taint));
}

/** Whether a NoSchedule or NoExecute taint is not tolerated. */
export function repels(taints: readonly core.Taint[], tolerations: readonly core.Toleration[]): boolean {
  return taints.some(
    (taint) => (taint.effect === "NoSchedule" || taint.effect === "NoExecute") && !isTolerated(taint, tolerations),
  );
}
