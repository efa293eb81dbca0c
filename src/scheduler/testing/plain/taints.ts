/** Taints and tolerations. */
import type { core } from "#api";

export function tolerates(toleration: core.Toleration, taint: core.Taint): boolean {
  const { key = "", operator = "Equal", value = "", effect } = toleration;
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  if (operator === "Exists") return true;
  return operator === "Equal" && value === (taint.value ?? "");
}

export function tolerated(tolerations: readonly core.Toleration[], taint: core.Taint): boolean {
  return tolerations.some((toleration) => tolerates(toleration, taint));
}

/** A taint that prevents the Pod from running on the node. */
export function forbiddingTaint(pod: core.Pod, node: core.Node): core.Taint | undefined {
  return (node.spec?.taints ?? []).find(
    (taint) => taint.effect !== "PreferNoSchedule" && !tolerated(pod.spec?.tolerations ?? [], taint),
  );
}
