/**
 * Whether Pods of a template may run on a node: by name, labels and taints.
 *
 * 1. Compiled once for a template; checking a node reads only the node.
 * 2. An untolerated taint prevents new Pods. Only NoExecute removes running ones.
 */

import { type core, type LabelOperator, LabelSelectorError, matcherOf, requirement } from "#api";
import { table } from "#base";

export type Node = core.Node;

export interface Fit {
  /** A Pod should run there. */
  readonly runs: boolean;
  /** A running Pod may stay. */
  readonly stays: boolean;
}

const NO: Fit = { runs: false, stays: false };

export function nodeFit(spec: core.PodSpec | undefined): (node: Node) => Fit {
  const { nodeName = "", nodeSelector = {}, affinity, tolerations = [] } = spec ?? {};
  const exact = Object.entries(nodeSelector);
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required?.nodeSelectorTerms?.map(termMatcher);
  return (node) => {
    const { name = "", labels = {} } = node.metadata;
    if (nodeName !== "" && nodeName !== name) return NO;
    if (!exact.every(([key, value]) => labels[key] === value)) return NO;
    if (terms !== undefined && !terms.some((fits) => fits(node))) return NO;
    const untolerated = (node.spec?.taints ?? []).filter(
      (taint) => taint.effect !== "PreferNoSchedule" && !tolerations.some((each) => tolerates(each, taint)),
    );
    return {
      runs: untolerated.length === 0,
      stays: untolerated.every(({ effect }) => effect !== "NoExecute"),
    };
  };
}

const OPERATORS: Readonly<Record<string, LabelOperator>> = table({
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!",
  Gt: "gt",
  Lt: "lt",
});

/** An empty or invalid term matches no node. */
function termMatcher({ matchExpressions = [], matchFields = [] }: core.NodeSelectorTerm): (node: Node) => boolean {
  if (matchExpressions.length + matchFields.length === 0) return () => false;
  try {
    const labels = matcherOf(matchExpressions.map(readRequirement));
    const fields = matcherOf(matchFields.map(readRequirement));
    return ({ metadata }) =>
      labels.matches(metadata.labels) && fields.matches({ "metadata.name": metadata.name ?? "" });
  } catch (error) {
    if (error instanceof LabelSelectorError) return () => false;
    throw error;
  }
}

function readRequirement({ key, operator, values = [] }: core.NodeSelectorRequirement) {
  const known = OPERATORS[operator];
  if (known === undefined) throw new LabelSelectorError(`"${operator}" is not a valid node selector operator`);
  return requirement(key, known, values);
}

function tolerates(toleration: core.Toleration, taint: core.Taint): boolean {
  const { key = "", operator = "Equal", value = "", effect } = toleration;
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  return operator === "Exists" || (operator === "Equal" && value === (taint.value ?? ""));
}
