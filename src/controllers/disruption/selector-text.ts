/** Formats a selector like the Events of kube-controller-manager. */
import type { LabelSelector } from "#api";

export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.keys(matchLabels)
    .sort()
    .map((key) => `${key}: ${matchLabels[key]},`);
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
  );
  const [all, others] = [labels.join(""), expressions.join("")];
  return `&LabelSelector{MatchLabels:map[string]string{${all}},MatchExpressions:[]LabelSelectorRequirement{${others}},}`;
}
