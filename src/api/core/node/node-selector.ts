/** Node selectors, as node affinity, volumes and devices use them. */
import { fits } from "../../definition/field-checks.ts";
import { type FieldError, type FieldPath, forbidden, invalid, required } from "../../machinery/errors/field-error.ts";
import { checkDns1123Subdomain, checkLabelValue, checkQualifiedName } from "../../machinery/names/names.ts";
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from "../../types/core-v1.ts";

export function validateNodeSelector(selector: NodeSelector, at: FieldPath, anyValue = false): readonly FieldError[] {
  const path = at.child("nodeSelectorTerms");
  const terms = selector.nodeSelectorTerms ?? [];
  if (terms.length === 0) return [required(path, "must have at least one node selector term")];
  return terms.flatMap((term, i) => validateNodeSelectorTerm(term, path.index(i), anyValue));
}

export function validateNodeSelectorTerm(
  term: NodeSelectorTerm,
  at: FieldPath,
  anyValue: boolean,
): readonly FieldError[] {
  return [
    ...(term.matchExpressions ?? []).flatMap((one, i) =>
      validateExpression(one, at.child("matchExpressions").index(i), anyValue),
    ),
    ...(term.matchFields ?? []).flatMap((one, i) => validateField(one, at.child("matchFields").index(i))),
  ];
}

function validateExpression(
  { key, operator, values = [] }: NodeSelectorRequirement,
  at: FieldPath,
  anyValue: boolean,
): readonly FieldError[] {
  const errors = [...operatorFaults(operator, values.length, at), ...fits(checkQualifiedName, key, at.child("key"))];
  if (anyValue) return errors;
  for (const [i, value] of values.entries()) errors.push(...fits(checkLabelValue, value, at.child("values").index(i)));
  return errors;
}

function operatorFaults(operator: string, count: number, at: FieldPath): readonly FieldError[] {
  const where = at.child("values");
  switch (operator) {
    case "In":
    case "NotIn":
      return count > 0 ? [] : [required(where, "must be specified when `operator` is 'In' or 'NotIn'")];
    case "Exists":
    case "DoesNotExist":
      return count === 0
        ? []
        : [forbidden(where, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    case "Gt":
    case "Lt":
      return count === 1 ? [] : [required(where, "must be specified single value when `operator` is 'Lt' or 'Gt'")];
    default:
      return [invalid(at.child("operator"), operator, "not a valid selector operator")];
  }
}

/** `metadata.name` is the only field that a node selector can match. */
function validateField({ key, operator, values = [] }: NodeSelectorRequirement, at: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (operator !== "In" && operator !== "NotIn") {
    errors.push(invalid(at.child("operator"), operator, "not a valid selector operator"));
  } else if (values.length !== 1) {
    errors.push(
      required(at.child("values"), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"),
    );
  }
  if (key !== "metadata.name") return [...errors, invalid(at.child("key"), key, "not a valid field selector key")];
  return [...errors, ...values.flatMap((value, i) => fits(checkDns1123Subdomain, value, at.child("values").index(i)))];
}
