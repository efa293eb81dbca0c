/**
 * Runs the rules of one node on one value.
 *
 * 1. All rules of an object share one budget, and each has one of its own. When either is spent, no more rules run.
 * 2. A rule that uses oldSelf runs only if there is an old value, unless it sets optionalOldSelf.
 */
import { CelError, fromJson, none, Optional, type Outcome } from "../../machinery/cel/index.ts";
import { type FieldError, type FieldErrorType, FieldPath, fieldErrorText } from "../../machinery/errors/field-error.ts";
import { goQuote } from "../../machinery/json/go-text.ts";
import type { Json } from "../../machinery/json/json.ts";
import type { ValidationRule } from "../../types/apiextensions-v1.ts";
import type { Correlation } from "../schema/correlation.ts";
import { type CompiledRule, type CompiledRules, celLimits } from "./compiled-rule.ts";

/** One run over one object. */
export class RuleRun {
  readonly errors: FieldError[] = [];
  /** Faults of unchanged values. */
  readonly warnings: string[] = [];
  /** Negative when it is spent. */
  budget: number;

  constructor(budget: number = celLimits.perObject) {
    this.budget = budget;
  }

  get isOver(): boolean {
    return this.budget < 0;
  }
}

/** The correlation with the old value: of the value itself, or of the nearest value around it. */
export interface Before {
  readonly own?: Correlation | undefined;
  readonly around?: Correlation | undefined;
}

const spent = "validation failed due to running out of cost budget, no further validation rules will be run";

export function runRules(
  { type, rules }: CompiledRules,
  schemaType: string,
  value: Json,
  old: Json | undefined,
  at: FieldPath,
  before: Before,
  run: RuleRun,
): void {
  const say = (detail: string): void => {
    run.errors.push({ type: "FieldValueInvalid", field: at.toString(), badValue: schemaType, detail });
  };
  const end = (detail: string): void => {
    say(detail);
    run.budget = -1;
  };
  if (run.budget <= 0) {
    end(spent);
    return;
  }
  const self = fromJson(value, type);
  const oldSelf = old === undefined ? undefined : fromJson(old, type);
  for (const compiled of rules) {
    const { rule, program, fault, usesOldSelf } = compiled;
    if (fault !== undefined) say(`rule compile error: ${fault}`);
    if (program === undefined || (usesOldSelf && old === undefined && rule.optionalOldSelf !== true)) continue;
    const variables = { self: () => self, oldSelf: () => oldValue(oldSelf, rule) };
    const evaluation = program.evaluate(variables, { budget: celLimits.perCall });
    if (evaluation.cost > run.budget) {
      end(spent);
      return;
    }
    run.budget -= evaluation.cost;
    if (!evaluation.ok) {
      const { error, exhausted } = evaluation;
      if (exhausted) {
        end(
          `'${error}': no further validation rules will be run due to call cost exceeds limit for rule: ${nameOf(rule)}`,
        );
        return;
      }
      say(
        error.startsWith("no such overload")
          ? `'${error}': call arguments did not match a supported operator, function or macro signature for rule: ${nameOf(rule)}`
          : `${error} evaluating rule: ${nameOf(rule)}`,
      );
    } else if (evaluation.value !== true) {
      const isRatcheted = !usesOldSelf && (before.own ?? before.around)?.unchanged === true;
      const report = (error: FieldError): void => {
        if (isRatcheted) run.warnings.push(fieldErrorText(error));
        else run.errors.push(error);
      };
      const where = compiled.field === undefined ? at : below(at, compiled.field);
      const message = messageOf(compiled, variables, run);
      if ("fatal" in message) {
        report({ type: "FieldValueInvalid", field: where.toString(), badValue: schemaType, detail: message.fatal });
        run.budget = -1;
        return;
      }
      const shown = schemaType === "object" || schemaType === "array" ? undefined : value;
      report(failure(rule, where, shown, message.detail));
    }
  }
}

function oldValue(oldSelf: Outcome | undefined, rule: ValidationRule): Outcome {
  if (rule.optionalOldSelf !== true) return oldSelf ?? new CelError("no such attribute(s): oldSelf");
  if (oldSelf === undefined) return none;
  return oldSelf instanceof CelError ? oldSelf : new Optional(oldSelf);
}

function below(at: FieldPath, field: FieldPath): FieldPath {
  return new FieldPath(at, field.toString(), "child");
}

function failure(rule: ValidationRule, at: FieldPath, shown: Json | undefined, detail: string): FieldError {
  const field = at.toString();
  const type: FieldErrorType = rule.reason ?? "FieldValueInvalid";
  switch (type) {
    case "FieldValueForbidden":
    case "FieldValueRequired":
      return { type, field, detail };
    case "FieldValueDuplicate":
      return { type, field, ...(shown !== undefined && { badValue: shown }), detail: "" };
    default:
      return { type: "FieldValueInvalid", field, ...(shown !== undefined && { badValue: shown }), detail };
  }
}

/**
 * The result of messageExpression, else the message, else the rule itself. An expression that exceeds the budget ends
 * the run.
 */
function messageOf(
  { rule, message }: CompiledRule,
  variables: Readonly<Record<"self" | "oldSelf", () => Outcome>>,
  run: RuleRun,
): { readonly detail: string } | { readonly fatal: string } {
  const fallback = { detail: rule.message ? rule.message.trim() : `failed rule: ${nameOf(rule)}` };
  if (message === undefined) return fallback;
  const evaluation = message.evaluate(variables, { budget: celLimits.perCall });
  if (evaluation.cost > run.budget)
    return {
      fatal:
        "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run",
    };
  if (!evaluation.ok && evaluation.exhausted) {
    const expression = goQuote(rule.messageExpression ?? "");
    return {
      fatal: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${expression}`,
    };
  }
  run.budget -= evaluation.cost;
  const text = evaluation.ok && typeof evaluation.value === "string" ? evaluation.value.trim() : "";
  const fits = text !== "" && !text.includes("\n") && new TextEncoder().encode(text).length <= celLimits.messageBytes;
  return fits ? { detail: text } : fallback;
}

function nameOf({ rule, message }: ValidationRule): string {
  return (message || rule).trim();
}
