/**
 * Label selectors: their requirements, and whether labels match.
 *
 * 1. A selector is compiled once; `matches` allocates nothing.
 * 2. Its requirements stay readable, sorted by key, so that indexes can be used instead of scanning objects.
 */

import { table } from "#base";
import { aggregate, type FieldError, fieldErrorText, forbidden, invalid, required } from "../errors/field-error.ts";
import { at, type FieldPath } from "../errors/field-path.ts";
import { goQuote } from "../json/go-text.ts";
import { checkLabelValue, checkQualifiedName } from "./names.ts";

export type Labels = Readonly<Record<string, string>>;

export type LabelOperator = "=" | "==" | "!=" | "in" | "notin" | "exists" | "!" | "gt" | "lt";

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

export interface LabelMatcher {
  /** Empty: everything matches, or with `nothing` set, nothing does. */
  readonly requirements: readonly LabelRequirement[];
  readonly nothing: boolean;
  matches(labels: Labels | undefined): boolean;
  /** The selector in its string form, requirements and values sorted. */
  toString(): string;
}

/** `metav1.LabelSelector`. */
export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelExpression[];
}

export interface LabelExpression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export class LabelSelectorError extends Error {
  override readonly name = "LabelSelectorError";
}

const noLabels: Labels = {};

export const everything: LabelMatcher = matcherOf([]);
export const nothing: LabelMatcher = { requirements: [], nothing: true, matches: () => false, toString: () => "" };

export function matcherOf(requirements: readonly LabelRequirement[]): LabelMatcher {
  const sorted = [...requirements].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const tests = sorted.map(compile);
  const [only] = tests;
  const all = (labels: Labels) => tests.every((test) => test(labels));
  const test = tests.length === 0 ? () => true : tests.length === 1 && only !== undefined ? only : all;
  return {
    requirements: sorted,
    nothing: false,
    matches: (labels = noLabels) => test(labels),
    toString: () => sorted.map(requirementText).join(","),
  };
}

/** An absent selector selects nothing, an empty one everything. */
export function matcherOfSelector(selector: LabelSelector | undefined): LabelMatcher {
  if (selector === undefined) return nothing;
  const exact = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => requirement(key, "=", [value]));
  const others = (selector.matchExpressions ?? []).map(({ key, operator, values = [] }) => {
    const known = expressionOperators[operator];
    if (known === undefined)
      throw new LabelSelectorError(`${goQuote(operator)} is not a valid label selector operator`);
    return requirement(key, known, values);
  });
  return exact.length + others.length === 0 ? everything : matcherOf([...exact, ...others]);
}

const expressionOperators: Readonly<Record<string, LabelOperator>> = table({
  In: "in",
  NotIn: "notin",
  Exists: "exists",
  DoesNotExist: "!",
});

/** A validated requirement; `path` is the path of its faults. */
export function requirement(
  key: string,
  operator: LabelOperator,
  values: readonly string[],
  path: FieldPath = at(),
): LabelRequirement {
  const valuePath = path.child("values");
  const errors: FieldError[] = labelKeyErrors(key, path.child("key"));
  const count = countError(operator, values.length);
  if (count !== undefined) errors.push(invalid(valuePath, values, count));
  for (const [i, value] of values.entries()) {
    if ((operator === "gt" || operator === "lt") && int64(value) === undefined) {
      errors.push(invalid(valuePath.index(i), value, "for 'Gt', 'Lt' operators, the value must be an integer"));
    }
  }
  for (const [i, value] of values.entries()) {
    const wrong = checkLabelValue(value);
    if (wrong.length > 0) errors.push(invalid(valuePath.index(i).key(key), value, wrong.join("; ")));
  }
  if (errors.length > 0) throw new LabelSelectorError(aggregate(errors.map(fieldErrorText)));
  return { key, operator, values };
}

export function labelKeyErrors(key: string, path: FieldPath): FieldError[] {
  const wrong = checkQualifiedName(key);
  return wrong.length === 0 ? [] : [invalid(path, key, wrong.join("; "))];
}

/** Faults of `metadata.labels` and similar maps. */
export function validateLabels(labels: Labels | undefined, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels ?? noLabels)) {
    for (const why of checkQualifiedName(key)) errors.push(invalid(path, key, why));
    for (const why of checkLabelValue(value)) errors.push(invalid(path, value, why));
  }
  return errors;
}

export function validateLabelSelector(selector: LabelSelector | undefined, path: FieldPath): readonly FieldError[] {
  if (selector === undefined) return [];
  const errors = [...validateLabels(selector.matchLabels, path.child("matchLabels"))];
  for (const [i, expression] of (selector.matchExpressions ?? []).entries()) {
    errors.push(...validateExpression(expression, path.child("matchExpressions").index(i)));
  }
  return errors;
}

function validateExpression({ key, operator, values = [] }: LabelExpression, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0)
      errors.push(required(path.child("values"), "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length > 0)
      errors.push(
        forbidden(path.child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      );
  } else {
    errors.push(invalid(path.child("operator"), operator, "not a valid selector operator"));
  }
  for (const why of checkQualifiedName(key)) errors.push(invalid(path.child("key"), key, why));
  for (const [i, value] of values.entries()) {
    for (const why of checkLabelValue(value)) errors.push(invalid(path.child("values").index(i), value, why));
  }
  return errors;
}

function countError(operator: LabelOperator, count: number): string | undefined {
  switch (operator) {
    case "in":
    case "notin":
      return count === 0 ? "for 'in', 'notin' operators, values set can't be empty" : undefined;
    case "exists":
    case "!":
      return count > 0 ? "values set must be empty for exists and does not exist" : undefined;
    case "gt":
    case "lt":
      return count === 1 ? undefined : "for 'Gt', 'Lt' operators, exactly one value is required";
    default:
      return count === 1 ? undefined : "exact-match compatibility requires one single value";
  }
}

type Test = (labels: Labels) => boolean;

function compile({ key, operator, values }: LabelRequirement): Test {
  const [first] = values;
  const any = new Set(values);
  const fits = values.length === 1 ? (value: string) => value === first : (value: string) => any.has(value);
  switch (operator) {
    case "=":
    case "==":
    case "in":
      return (labels) => Object.hasOwn(labels, key) && fits(labels[key] ?? "");
    case "!=":
    case "notin":
      return (labels) => !Object.hasOwn(labels, key) || !fits(labels[key] ?? "");
    case "exists":
      return (labels) => Object.hasOwn(labels, key);
    case "!":
      return (labels) => !Object.hasOwn(labels, key);
    case "gt":
    case "lt": {
      const bound = int64(first ?? "");
      return (labels) => {
        const value = Object.hasOwn(labels, key) ? int64(labels[key] ?? "") : undefined;
        if (value === undefined || bound === undefined) return false;
        return operator === "gt" ? value > bound : value < bound;
      };
    }
  }
}

function int64(text: string): bigint | undefined {
  if (!/^[+-]?\d{1,19}$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ""));
  return value >= -(2n ** 63n) && value < 2n ** 63n ? value : undefined;
}

function requirementText({ key, operator, values }: LabelRequirement): string {
  const list = [...values].sort().join(",");
  switch (operator) {
    case "exists":
      return key;
    case "!":
      return `!${key}`;
    case "in":
    case "notin":
      return `${key} ${operator} (${list})`;
    case "gt":
      return `${key}>${list}`;
    case "lt":
      return `${key}<${list}`;
    default:
      return `${key}${operator}${list}`;
  }
}
