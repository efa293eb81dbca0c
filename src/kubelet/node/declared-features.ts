/**
 * What a kubelet declares in the status of its Node: features that a Pod, an update of one, or the API server needs of
 * the node and that this kubelet has.
 */
import type { Features } from "#api";

/** By the names of their gates. */
const OWN = ["ExtendWebSocketsToKubelet"] as const;

/** Undefined: the gate NodeDeclaredFeatures is off. */
export function declaredFeatures({ enabled }: Pick<Features, "enabled">): readonly string[] | undefined {
  return enabled("NodeDeclaredFeatures") ? OWN.filter((feature) => enabled(feature)) : undefined;
}
