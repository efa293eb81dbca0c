/**
 * Features that nodes declare in `status.declaredFeatures`, by the names of their gates, and Pods that need one of
 * their node. A node declares what it does, not what a control plane of its version knows.
 */
import type { ContainerRestartRule, PodSpec } from "../../types/core-v1.ts";

/** In the order of their names. Those that only an update of a Pod needs are the admission plugin's. */
const NEEDED_BY: readonly (readonly [feature: string, isNeeded: (spec: PodSpec) => boolean])[] = [
  [
    "RestartAllContainersOnContainerExits",
    ({ containers, initContainers = [] }) => [...containers, ...initContainers].some(restartsAll),
  ],
];

const NONE: readonly string[] = [];

export function neededNodeFeatures(spec: PodSpec | undefined): readonly string[] {
  if (spec === undefined) return NONE;
  const needed = NEEDED_BY.filter(([, isNeeded]) => isNeeded(spec));
  return needed.length === 0 ? NONE : needed.map(([feature]) => feature);
}

/** The features that a Pod needs and a node does not declare. */
export function missingNodeFeatures(needed: readonly string[], declared: readonly string[] = NONE): readonly string[] {
  return needed.filter((feature) => !declared.includes(feature));
}

function restartsAll({ restartPolicyRules }: { readonly restartPolicyRules?: readonly ContainerRestartRule[] }) {
  return restartPolicyRules?.some(({ action }) => action === "RestartAllContainers") === true;
}
