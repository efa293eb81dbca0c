/** Validates node affinity that a configuration adds to all Pods, like that of a Pod. */

import {
  type core,
  type FieldError,
  type FieldPath,
  field,
  type LabelOperator,
  LabelSelectorError,
  requirement,
} from "#api";
import { table } from "#base";
import { ConfigurationError } from "../framework/index.ts";

const OPERATORS: Readonly<Record<string, LabelOperator>> = table({
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!",
  Gt: "gt",
  Lt: "lt",
});

export function checkNodeSelector(
  { nodeSelectorTerms = [] }: core.NodeSelector,
  path: FieldPath,
): readonly FieldError[] {
  return nodeSelectorTerms.flatMap((term, i) => checkTerm(term, path.child("nodeSelectorTerms").index(i)));
}

export function checkPreferredTerms(
  terms: readonly core.PreferredSchedulingTerm[],
  path: FieldPath,
): readonly FieldError[] {
  return terms.flatMap(({ weight, preference = {} }, i) => (weight === 0 ? [] : checkTerm(preference, path.index(i))));
}

function checkTerm({ matchExpressions = [], matchFields = [] }: core.NodeSelectorTerm, path: FieldPath): FieldError[] {
  return [
    ...matchExpressions.flatMap((each, i) => checkExpression(each, path.child("matchExpressions").index(i))),
    ...matchFields.flatMap((each, i) => checkField(each, path.child("matchFields").index(i))),
  ];
}

function checkExpression(
  { key = "", operator, values = [] }: core.NodeSelectorRequirement,
  path: FieldPath,
): readonly FieldError[] {
  const known = OPERATORS[operator ?? ""];
  if (known === undefined) return [field.notSupported(path.child("operator"), operator ?? "", Object.keys(OPERATORS))];
  try {
    requirement(key, known, values, path);
    return [];
  } catch (error) {
    if (error instanceof LabelSelectorError) throw new ConfigurationError(error.message, { cause: error });
    throw error;
  }
}

function checkField({ operator, values = [] }: core.NodeSelectorRequirement, path: FieldPath): readonly FieldError[] {
  if (operator !== "In" && operator !== "NotIn")
    return [field.notSupported(path.child("operator"), operator ?? "", ["In", "NotIn"])];
  return values.length === 1 ? [] : [field.invalid(path.child("values"), [...values], "must have one element")];
}
