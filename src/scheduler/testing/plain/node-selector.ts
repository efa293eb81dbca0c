/** Whether a node matches `nodeSelector` and node affinity: terms are ORed, requirements of a term are ANDed. */
import type { core } from "#api";
import { labelsOf, nameOf } from "./cluster.ts";

export function fitsRequired(pod: core.Pod, node: core.Node): boolean {
  const wanted = Object.entries(pod.spec?.nodeSelector ?? {});
  const labels = labelsOf(node);
  if (!wanted.every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value)) return false;
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || fitsSelector(required, node);
}

export function fitsSelector(selector: core.NodeSelector, node: core.Node): boolean {
  return (selector.nodeSelectorTerms ?? []).some((term) => fitsTerm(term, node));
}

/** An empty term matches nothing. */
export function fitsTerm({ matchExpressions = [], matchFields = [] }: core.NodeSelectorTerm, node: core.Node): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((each) => fitsExpression(each, labelsOf(node))) &&
    matchFields.every((each) => fitsExpression(each, { "metadata.name": nameOf(node) }))
  );
}

function fitsExpression(
  { key, operator, values = [] }: core.NodeSelectorRequirement,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
    case "Lt": {
      if (value === undefined || !/^[+-]?\d+$/.test(value)) return false;
      const [left, right] = [BigInt(value), BigInt(values[0] ?? "0")];
      return operator === "Gt" ? left > right : left < right;
    }
    default:
      return false;
  }
}
