/** Validation of success policies: when an Indexed Job succeeds before all of its indexes have. */
import { nonNegative } from "../definition/field-checks.ts";
import { internalForm } from "../facts/index.ts";
import {
  type FieldError,
  type FieldPath,
  invalid,
  required,
  tooLong,
  tooMany,
} from "../machinery/errors/field-error.ts";
import type { JobSpec, SuccessPolicy, SuccessPolicyRule } from "../types/batch-v1.ts";
import { countIndexes, IndexesError, parseIndexes } from "./indexes.ts";

const maxRules = 20;
const maxIndexesBytes = 64 * 1024;

export function validateSuccessPolicy(spec: JobSpec, policy: SuccessPolicy, at: FieldPath): readonly FieldError[] {
  if (spec.completionMode !== "Indexed")
    return [invalid(at, internalForm("batch.v1.SuccessPolicy", policy), "requires indexed completion mode")];
  const rules = policy.rules ?? [];
  const rulesAt = at.child("rules");
  return [
    ...(rules.length === 0
      ? [required(rulesAt, "at least one rules must be specified when the successPolicy is specified")]
      : []),
    ...(rules.length > maxRules ? [tooMany(rulesAt, rules.length, maxRules)] : []),
    ...rules.flatMap((rule, i) => validateRule(spec.completions ?? 0, rule, rulesAt.index(i))),
  ];
}

function validateRule(
  completions: number,
  { succeededCount: count, succeededIndexes: text }: SuccessPolicyRule,
  at: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (count === undefined && text === undefined) {
    errors.push(required(at, "at least one of succeededCount or succeededIndexes must be specified"));
  }
  let listed = 0;
  if (text !== undefined) {
    const indexesAt = at.child("succeededIndexes");
    if (text.length > maxIndexesBytes) errors.push(tooLong(indexesAt, maxIndexesBytes));
    try {
      listed = countIndexes(parseIndexes(text, completions));
    } catch (error) {
      if (!(error instanceof IndexesError)) throw error;
      errors.push(invalid(indexesAt, text, `error parsing succeededIndexes: ${error.message}`));
    }
  }
  if (count === undefined) return errors;
  const countAt = at.child("succeededCount");
  const atMost = (limit: number, what: string) =>
    invalid(countAt, count, `must be less than or equal to ${limit} (the number of ${what})`);
  errors.push(...nonNegative(count, countAt));
  if (count > completions) errors.push(atMost(completions, "specified completions"));
  if (text !== undefined && count > listed)
    errors.push(atMost(listed, "indexes in the specified succeededIndexes field"));
  return errors;
}

/** As Kubernetes prints it: with the names of the Go fields. */
