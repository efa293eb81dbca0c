/** How long a Pod tolerates the taints of its node. */
import type { core } from "#api";

export type Tolerance =
  /** A taint is not tolerated. */
  | { readonly kind: "none" }
  | { readonly kind: "forever" }
  /** By the wall clock. */
  | { readonly kind: "until"; readonly ms: number };

export function noExecuteTaints(node: core.Node | undefined): readonly core.Taint[] {
  return (node?.spec?.taints ?? []).filter(({ effect }) => effect === "NoExecute");
}

/**
 * Of several tolerations for a taint the first counts; of several times the earliest. A time runs from `sinceMs`: when
 * the taint was added, or when the Pod arrived, whichever is later.
 */
export function toleranceOf(
  tolerations: readonly core.Toleration[],
  taints: readonly core.Taint[],
  sinceMs: (taint: core.Taint) => number,
): Tolerance {
  let until = Number.POSITIVE_INFINITY;
  for (const taint of taints) {
    const used = tolerations.find((each) => tolerates(each, taint));
    if (used === undefined) return { kind: "none" };
    const { tolerationSeconds } = used;
    if (tolerationSeconds === undefined) continue;
    if (tolerationSeconds <= 0) return { kind: "none" };
    until = Math.min(until, sinceMs(taint) + Number(tolerationSeconds) * 1000);
  }
  return Number.isFinite(until) ? { kind: "until", ms: until } : { kind: "forever" };
}

export function tolerates({ key = "", operator, value = "", effect }: core.Toleration, taint: core.Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  if (operator === "Exists") return true;
  return (operator ?? "Equal") === "Equal" && value === (taint.value ?? "");
}
