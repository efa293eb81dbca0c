/** Validation of pod failure policies. */
import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
  tooMany,
} from "../machinery/errors/field-error.ts";
import { goQuote } from "../machinery/json/go-text.ts";
import { checkQualifiedName } from "../machinery/names/names.ts";
import type {
  JobSpec,
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyOnPodConditionsPattern,
  PodFailurePolicyRule,
} from "../types/batch-v1.ts";

const maxRules = 20;
const maxExitCodes = 255;
const maxConditions = 20;
const actions = ["Count", "FailIndex", "FailJob", "Ignore"];
const operators = ["In", "NotIn"];
const statuses = ["False", "True", "Unknown"];

export function validatePodFailurePolicy(
  spec: JobSpec,
  policy: PodFailurePolicy,
  at: FieldPath,
): readonly FieldError[] {
  const rules = policy.rules ?? [];
  const rulesAt = at.child("rules");
  const { containers = [], initContainers = [] } = spec.template?.spec ?? {};
  const containerNames = new Set([...(containers ?? []), ...initContainers].map(({ name }) => name));
  return [
    ...(rules.length > maxRules ? [tooMany(rulesAt, rules.length, maxRules)] : []),
    ...rules.flatMap((rule, i) => validateRule(spec, rule, rulesAt.index(i), containerNames)),
  ];
}

function validateRule(
  spec: JobSpec,
  rule: PodFailurePolicyRule,
  at: FieldPath,
  containerNames: ReadonlySet<string>,
): readonly FieldError[] {
  const { onExitCodes, onPodConditions = [] } = rule;
  const errors = [...validateAction(spec, rule.action ?? "", at.child("action"))];
  if (onExitCodes !== undefined)
    errors.push(...validateExitCodes(onExitCodes, at.child("onExitCodes"), containerNames));
  if (onPodConditions.length > 0) errors.push(...validateConditions(onPodConditions, at.child("onPodConditions")));
  const hasBoth = onExitCodes !== undefined && onPodConditions.length > 0;
  const hasNone = onExitCodes === undefined && onPodConditions.length === 0;
  if (hasBoth) errors.push(invalidAsWhole(at, "specifying both OnExitCodes and OnPodConditions is not supported"));
  if (hasNone) errors.push(invalidAsWhole(at, "specifying one of OnExitCodes and OnPodConditions is required"));
  return errors;
}

function validateAction(spec: JobSpec, action: string, at: FieldPath): readonly FieldError[] {
  if (action === "FailIndex" && spec.backoffLimitPerIndex === undefined) {
    return [invalid(at, action, "requires the backoffLimitPerIndex to be set")];
  }
  return oneOf(action, actions, at);
}

function validateExitCodes(
  { operator, containerName, values: given }: PodFailurePolicyOnExitCodesRequirement,
  at: FieldPath,
  containerNames: ReadonlySet<string>,
): readonly FieldError[] {
  const values = given ?? [];
  const valuesAt = at.child("values");
  const errors = [...oneOf(operator ?? "", operators, at.child("operator"))];
  if (containerName !== undefined && !containerNames.has(containerName)) {
    const why = "must be one of the container or initContainer names in the pod template";
    errors.push(invalid(at.child("containerName"), containerName, why));
  }
  if (values.length === 0) errors.push(invalid(valuesAt, given ?? null, "at least one value is required"));
  else if (values.length > maxExitCodes) errors.push(tooMany(valuesAt, values.length, maxExitCodes));
  for (const [i, value] of values.entries()) {
    if (operator === "In" && value === 0)
      errors.push(invalid(valuesAt.index(i), value, "must not be 0 for the In operator"));
    if (values.indexOf(value) < i) errors.push(duplicate(valuesAt.index(i), value));
  }
  const isOrdered = values.every((value, i) => i === 0 || (values[i - 1] ?? value) <= value);
  if (!isOrdered) errors.push(invalid(valuesAt, values, "must be ordered"));
  return errors;
}

function validateConditions(
  patterns: readonly PodFailurePolicyOnPodConditionsPattern[],
  at: FieldPath,
): readonly FieldError[] {
  return [
    ...(patterns.length > maxConditions ? [tooMany(at, patterns.length, maxConditions)] : []),
    ...patterns.flatMap(({ type = "", status = "" }, i) => [
      ...checkQualifiedName(type).map((why) => invalid(at.index(i).child("type"), type, why)),
      ...oneOf(status, statuses, at.index(i).child("status")),
    ]),
  ];
}

function oneOf(value: string, known: readonly string[], at: FieldPath): readonly FieldError[] {
  if (known.includes(value)) return [];
  return [
    value === "" ? required(at, `valid values: [${known.map(goQuote).join(" ")}]`) : notSupported(at, value, known),
  ];
}

/** A fault whose value is not shown. */
export function invalidAsWhole(at: FieldPath, detail: string): FieldError {
  return { type: "FieldValueInvalid", field: at.toString(), detail };
}
