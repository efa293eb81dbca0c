/**
 * Whether a Pod tolerates a node's NoExecute taints. The scheduler checks the other effects; static Pods run anyway.
 */
import type { core } from "#api";

const CONFIG_SOURCE = "kubernetes.io/config.source";

export function isTolerated({ metadata, spec }: core.Pod, node: Pick<core.Node, "spec">): boolean {
  const { [CONFIG_SOURCE]: source = "api" } = metadata.annotations ?? {};
  if (source !== "api") return true;
  return (node.spec?.taints ?? []).every(
    (taint) => taint.effect !== "NoExecute" || (spec?.tolerations ?? []).some((each) => tolerates(each, taint)),
  );
}

function tolerates({ key = "", operator, value = "", effect }: core.Toleration, taint: core.Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  if (operator === "Exists") return true;
  return (operator ?? "Equal") === "Equal" && value === (taint.value ?? "");
}
