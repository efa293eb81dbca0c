/**
 * A compiled ValidatingAdmissionPolicy, and its evaluation for a request: pure.
 *
 * 1. Match conditions decide whether it applies. Each validation is a decision of its own.
 * 2. The failure policy decides about expressions that fail.
 */
import {
  Activation,
  type admissionregistration,
  Composition,
  CostBudgetError,
  type cel,
  celLimits,
  type Expression,
  type ExpressionInput,
  type Matched,
  matchConditions,
} from "#api";
import type { Inputs } from "../dynamic/index.ts";
import type { AnyPolicy } from "./policy-set.ts";

type Spec = admissionregistration.ValidatingAdmissionPolicySpec;

export interface ValidatingPolicy {
  readonly variables: ReadonlyMap<string, Expression>;
  readonly conditions: readonly Expression[];
  readonly validations: readonly CompiledValidation[];
  readonly annotations: readonly { readonly key: string; readonly value: Expression }[];
  readonly failurePolicy: "Fail" | "Ignore";
}

type Evaluated = ReturnType<Activation["evaluate"]>;

interface CompiledValidation {
  readonly spec: admissionregistration.Validation;
  readonly expression: Expression;
  readonly message: Expression | undefined;
}

export type Decision = Judgement & { readonly tookMs: number };

type Judgement =
  /** `failure`: it could not be evaluated, and the failure policy ignores that. */
  | { readonly admit: true; readonly failure?: string }
  | { readonly admit: false; readonly message: string; readonly reason: string };

export interface Decided {
  /** One for each validation, in order; fewer if the evaluation stopped early. */
  readonly decisions: readonly Decision[];
  readonly annotations: readonly { readonly key: string; readonly value: string }[];
  /** Failed audit annotations: they deny the request, whatever the actions of the binding are. */
  readonly faults: readonly string[];
  /** Absent if it has no match conditions. */
  readonly matched?: Matched & { readonly startMs: number };
}

const ADMIT: Judgement = { admit: true };
const NOTHING: Decided = { decisions: [], annotations: [], faults: [] };

export function compileValidatingPolicy(policy: AnyPolicy): ValidatingPolicy {
  const spec = (policy.spec ?? {}) as Spec;
  const composition = new Composition(spec.variables ?? [], spec.paramKind !== undefined);
  return {
    variables: composition.variables,
    conditions: (spec.matchConditions ?? []).map(({ expression }) => composition.compile(expression, "bool")),
    validations: (spec.validations ?? []).map((validation) => ({
      spec: validation,
      expression: composition.compile(validation.expression, "bool"),
      message: validation.messageExpression
        ? composition.compile(validation.messageExpression, "string", { authorizer: false })
        : undefined,
    })),
    annotations: (spec.auditAnnotations ?? []).map(({ key, valueExpression }) => ({
      key,
      value: composition.compile(valueExpression, "stringOrNull"),
    })),
    failurePolicy: spec.failurePolicy ?? "Fail",
  };
}

/** `now`: monotonic, for the times that decisions took. */
export function decide(policy: ValidatingPolicy, { conditions, expressions }: Inputs, now: () => number): Decided {
  const startMs = now();
  const failed = (message: string): Decided => ({
    ...NOTHING,
    decisions: [{ ...onFailure(policy, message), tookMs: now() - startMs }],
  });
  let matched: Decided["matched"];
  if (policy.conditions.length > 0) {
    const activation = new Activation(conditions, policy.variables);
    matched = { ...matchConditions(policy.conditions, activation, policy.failurePolicy), startMs };
    if ("error" in matched) return { ...failed(matched.error), matched };
    if (!matched.matches) return { ...NOTHING, matched };
  }
  const and = matched === undefined ? {} : { matched };
  try {
    return { ...annotate(policy, expressions), decisions: judge(policy, expressions, now), ...and };
  } catch (error) {
    if (error instanceof CostBudgetError) return { ...failed(error.message), ...and };
    throw error;
  }
}

function onFailure({ failurePolicy }: ValidatingPolicy, message: string): Judgement {
  return failurePolicy === "Ignore" ? { admit: true, failure: message } : { admit: false, message, reason: "" };
}

function judge(policy: ValidatingPolicy, input: ExpressionInput, now: () => number): readonly Decision[] {
  const activation = new Activation(input, policy.variables);
  let remaining: number = celLimits.perObject;
  const evaluated = policy.validations.map(({ expression }) => {
    const startMs = now();
    const result = activation.evaluate(expression, remaining);
    remaining = result.remaining;
    return { result, tookMs: now() - startMs };
  });
  // Message expressions have no authorizer.
  const { authorizer: _, ...unauthorized } = input;
  const messages = new Activation(unauthorized, policy.variables);
  const judged = (validation: CompiledValidation, result: Evaluated | undefined): Judgement => {
    if (result === undefined || !result.ok) return onFailure(policy, result?.error ?? "");
    if (result.value === true) return ADMIT;
    try {
      const evaluated = validation.message && messages.evaluate(validation.message, remaining);
      remaining = evaluated?.remaining ?? remaining;
      const message = messageOf(validation, evaluated?.ok === true ? evaluated.value : undefined);
      return { admit: false, message, reason: validation.spec.reason ?? "Invalid" };
    } catch (error) {
      if (!(error instanceof CostBudgetError)) throw error;
      return onFailure(policy, `failed messageExpression: ${error.message}`);
    }
  };
  return policy.validations.map((validation, i) => {
    const { result, tookMs = 0 } = evaluated[i] ?? {};
    return { ...judged(validation, result), tookMs };
  });
}

/**
 * The value of the message expression, if it is one line within the length limit; else the message; else the expression
 * that failed.
 */
function messageOf({ spec }: CompiledValidation, value: cel.Value | undefined): string {
  const text = typeof value === "string" ? value.trim() : "";
  if (text !== "" && !text.includes("\n") && Buffer.byteLength(text) <= celLimits.messageBytes) return text;
  const message = spec.message?.trim() ?? "";
  return message === "" ? `failed expression: ${spec.expression.trim()}` : message;
}

function annotate(policy: ValidatingPolicy, input: ExpressionInput): Pick<Decided, "annotations" | "faults"> {
  const { authorizer: _, ...unauthorized } = input;
  const activation = new Activation(unauthorized, policy.variables);
  const annotations: { key: string; value: string }[] = [];
  const faults: string[] = [];
  let remaining: number = celLimits.perObject;
  for (const { key, value } of policy.annotations) {
    const evaluated = activation.evaluate(value, remaining);
    remaining = evaluated.remaining;
    if (!evaluated.ok) {
      if (policy.failurePolicy !== "Ignore") faults.push(evaluated.error);
      continue;
    }
    const text = typeof evaluated.value === "string" ? evaluated.value.trim() : "";
    if (text !== "") annotations.push({ key, value: text });
  }
  return { annotations, faults };
}
