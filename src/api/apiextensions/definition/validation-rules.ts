/**
 * Validation of `x-kubernetes-validations`: that rules are well-formed, that they compile, and that they cannot cost
 * too much.
 */
import {
  type FieldError,
  type FieldPath,
  forbidden,
  internal,
  invalid,
  notSupported,
  required,
} from "../../machinery/errors/field-error.ts";
import type { Json } from "../../machinery/json/json.ts";
import type { JSONSchemaProps, ValidationRule } from "../../types/apiextensions-v1.ts";
import { type CompiledRule, celLimits, compileRules } from "../rules/compiled-rule.ts";
import { compileObjectRules, type RulesMemo } from "../rules/object-rules.ts";
import { type RuleScope, timesCapped } from "../rules/rule-scope.ts";
import { RuleRun } from "../rules/run-rules.ts";
import { FieldReferenceError, fieldReference } from "../schema/field-reference.ts";
import type { DefaultRules } from "./default-rules.ts";
import { shownRule } from "./internal-json.ts";

const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
const lineBreak = /[\n\r]/;

export interface RuleContext {
  /** Undefined where rules are not compiled. */
  readonly scope: RuleScope | undefined;
  readonly uncorrelated: FieldPath | undefined;
  readonly anyCost: boolean;
}

/**
 * `clean` is called after the rules themselves were checked: whether the schema has no faults, so that rules can be
 * compiled.
 */
export function ruleFaults(
  schema: JSONSchemaProps,
  path: FieldPath,
  context: RuleContext,
  clean: () => boolean,
  found: { readonly schema: FieldError[]; readonly rules: FieldError[] },
): void {
  const rules = schema["x-kubernetes-validations"] ?? [];
  if (rules.length === 0) return;
  const where = path.child("x-kubernetes-validations");
  for (const [i, rule] of rules.entries()) found.schema.push(...formFaults(rule, schema, where.index(i)));
  const { scope } = context;
  if (scope !== undefined && clean())
    found.rules.push(...compiledRuleFaults(scope, where, context.uncorrelated, context.anyCost));
}

function formFaults(
  { rule = "", message = "", messageExpression = "", reason, fieldPath = "" }: ValidationRule,
  schema: JSONSchemaProps,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const [trimmedRule, trimmedMessage] = [rule.trim(), message.trim()];
  if (trimmedRule === "") errors.push(required(path.child("rule"), "rule is not specified"));
  else if (message !== "" && trimmedMessage === "")
    errors.push(invalid(path.child("message"), message, "must be non-empty if specified"));
  else if (lineBreak.test(trimmedMessage))
    errors.push(invalid(path.child("message"), message, "must not contain line breaks"));
  else if (lineBreak.test(trimmedRule) && trimmedMessage === "")
    errors.push(required(path.child("message"), "message must be specified if rule contains line breaks"));
  if (messageExpression !== "" && messageExpression.trim() === "")
    errors.push(required(path.child("messageExpression"), "messageExpression must be non-empty if specified"));
  if (reason !== undefined && !reasons.includes(reason))
    errors.push(notSupported(path.child("reason"), reason, reasons));
  if (fieldPath === "") return errors;
  if (fieldPath.trim() === "")
    errors.push(invalid(path.child("fieldPath"), fieldPath, "must be non-empty if specified"));
  if (lineBreak.test(fieldPath))
    errors.push(invalid(path.child("fieldPath"), fieldPath, "must not contain line breaks"));
  if (!leadsSomewhere(fieldPath, schema))
    errors.push(invalid(path.child("fieldPath"), fieldPath, "must be a valid path"));
  return errors;
}

function leadsSomewhere(fieldPath: string, schema: JSONSchemaProps): boolean {
  try {
    fieldReference(fieldPath, schema);
    return true;
  } catch (error) {
    if (error instanceof FieldReferenceError) return false;
    throw error;
  }
}

export function compiledRuleFaults(
  scope: RuleScope,
  path: FieldPath,
  uncorrelated: FieldPath | undefined,
  anyCost: boolean,
): readonly FieldError[] {
  const type = scope.type();
  if (type === undefined) {
    const why =
      "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";
    return [internal(path, why)];
  }
  const { rules, cardinality } = compileRules(scope.node, type);
  return rules.flatMap((compiled, i) => {
    const at = path.index(i);
    const cost = timesCapped(compiled.cost, scope.cardinality ?? cardinality);
    scope.total.add(at.child("rule"), cost);
    if (compiled.message !== undefined) scope.total.add(at.child("messageExpression"), compiled.messageCost);
    const limit = anyCost ? Number.POSITIVE_INFINITY : celLimits.estimatedRule;
    return [
      ...tooExpensive("estimated rule cost", cost, limit, at.child("rule")),
      ...compileFaults(compiled, at),
      ...tooExpensive("estimated messageExpression cost", compiled.messageCost, limit, at.child("messageExpression")),
      ...oldSelfFaults(compiled, uncorrelated, at),
    ];
  });
}

function tooExpensive(what: string, cost: number, limit: number, path: FieldPath): readonly FieldError[] {
  return cost > limit ? [forbidden(path, budgetWords(what, cost, celLimits.estimatedRule))] : [];
}

function compileFaults({ rule, fault, messageFault }: CompiledRule, path: FieldPath): readonly FieldError[] {
  return [
    ...(fault === undefined ? [] : [invalid(path.child("rule"), shownRule(rule), fault)]),
    ...(messageFault === undefined ? [] : [invalid(path.child("messageExpression"), shownRule(rule), messageFault)]),
  ];
}

function oldSelfFaults(
  { rule, usesOldSelf }: CompiledRule,
  uncorrelated: FieldPath | undefined,
  path: FieldPath,
): readonly FieldError[] {
  if (usesOldSelf) {
    if (uncorrelated === undefined) return [];
    const words = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`;
    return [invalid(path.child("rule"), rule.rule, words)];
  }
  if (rule.optionalOldSelf === undefined) return [];
  const words = "may not be set if oldSelf is not used in rule";
  return [invalid(path.child("optionalOldSelf"), rule.optionalOldSelf, words)];
}

/**
 * Runs rules on defaults: first as on an unchanged value, then as on a new one. All defaults of a schema share one
 * budget.
 */
export function defaultRuleFaults(): DefaultRules {
  let budget: number = celLimits.perObject;
  const memo: RulesMemo = new Map();
  return (schema, value, path, isResource) => {
    const rules = compileObjectRules(schema, isResource, memo);
    if (rules === undefined || budget < 0) return [];
    const over = (old: Json | undefined): RuleRun => {
      const run = new RuleRun(budget);
      rules(value, old, path, {}, run);
      return run;
    };
    const kept = over(value);
    if (kept.errors.length > 0) {
      ({ budget } = kept);
      return kept.errors;
    }
    const fresh = over(undefined);
    budget = Math.min(kept.budget, fresh.budget);
    return fresh.errors;
  };
}

export function budgetWords(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const times = factor > 100 ? "more than 100x" : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  const advice =
    "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared";
  return `${what} exceeds budget by factor of ${times} (${advice})`;
}
