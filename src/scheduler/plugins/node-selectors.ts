/** Compiles node selectors and node affinity terms: terms are ORed, the requirements of a term are ANDed. */

import { type core, type LabelOperator, LabelSelectorError, type Labels, matcherOf, requirement } from "#api";
import { table } from "#base";
import type { NodeAsk } from "../framework/index.ts";

export interface SelectedNode {
  readonly name: string;
  readonly labels: Labels;
}

export type NodeMatcher = (node: SelectedNode) => boolean;

const OPERATORS: Readonly<Record<string, LabelOperator>> = table({
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!",
  Gt: "gt",
  Lt: "lt",
});

/** An empty or invalid term matches no node. */
export function termMatcher({ matchExpressions = [], matchFields = [] }: core.NodeSelectorTerm): NodeMatcher {
  if (matchExpressions.length + matchFields.length === 0) return () => false;
  try {
    const labels = matcherOf(matchExpressions.map(readRequirement));
    const fields = matcherOf(matchFields.map(readRequirement));
    if (matchFields.length === 0) return (node) => labels.matches(node.labels);
    return (node) => labels.matches(node.labels) && fields.matches({ "metadata.name": node.name });
  } catch (error) {
    if (error instanceof LabelSelectorError) return () => false;
    throw error;
  }
}

export function selectorMatcher({ nodeSelectorTerms }: core.NodeSelector): NodeMatcher {
  const terms = (nodeSelectorTerms ?? []).map(termMatcher);
  return (node) => terms.some((matches) => matches(node));
}

/** `nodeSelector` and required node affinity; undefined if there is neither. */
export function requiredMatcher({ nodeSelector, nodeAffinity }: NodeAsk): NodeMatcher | undefined {
  const required = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const exact = Object.entries(nodeSelector);
  if (required === undefined && exact.length === 0) return undefined;
  const matches = required === undefined ? () => true : selectorMatcher(required);
  return (node) =>
    exact.every(([key, value]) => Object.hasOwn(node.labels, key) && node.labels[key] === value) && matches(node);
}

export function selectedNode({ metadata }: core.Node): SelectedNode {
  return { name: metadata.name ?? "", labels: metadata.labels ?? {} };
}

function readRequirement({ key, operator, values = [] }: core.NodeSelectorRequirement) {
  const known = OPERATORS[operator];
  if (known === undefined) throw new LabelSelectorError(`"${operator}" is not a valid node selector operator`);
  return requirement(key, known, values);
}
