/** A label selector as Go prints it inside messages. */
import type { meta } from "#api";

export function goSelector(selector: meta.LabelSelector | undefined): string {
  if (selector === undefined) return "nil";
  const labels = Object.entries(selector.matchLabels ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`);
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(" ")}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join("")}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join("")}},}`;
}
