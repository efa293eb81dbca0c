/** A compiled MutatingAdmissionPolicy, and the evaluation of its mutations: pure. */
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

type Spec = admissionregistration.MutatingAdmissionPolicySpec;

export interface MutatingPolicy {
  readonly variables: ReadonlyMap<string, Expression>;
  readonly conditions: readonly Expression[];
  readonly mutations: readonly Mutation[];
  readonly failurePolicy: "Fail" | "Ignore";
  /** It runs again if the object changed after it (reinvocationPolicy: IfNeeded). */
  readonly reinvoked: boolean;
}

export interface Mutation {
  readonly type: "ApplyConfiguration" | "JSONPatch";
  readonly expression: Expression;
}

export function compileMutatingPolicy(policy: AnyPolicy): MutatingPolicy {
  const spec = (policy.spec ?? {}) as Spec;
  const composition = new Composition(spec.variables ?? [], spec.paramKind !== undefined);
  return {
    variables: composition.variables,
    conditions: (spec.matchConditions ?? []).map(({ expression }) => composition.compile(expression, "bool")),
    mutations: (spec.mutations ?? []).map(({ patchType, applyConfiguration, jsonPatch }) => {
      const [text, returns] =
        patchType === "JSONPatch"
          ? ([jsonPatch?.expression, "patches"] as const)
          : ([applyConfiguration?.expression, "object"] as const);
      return { type: patchType, expression: composition.compile(text ?? "", returns, { patches: true }) };
    }),
    failurePolicy: spec.failurePolicy ?? "Fail",
    reinvoked: spec.reinvocationPolicy === "IfNeeded",
  };
}

export function isMatched({ conditions, variables, failurePolicy }: MutatingPolicy, input: Inputs): Matched {
  if (conditions.length === 0) return { matches: true };
  return matchConditions(conditions, new Activation(input.conditions, variables), failurePolicy);
}

/** A mutation failed. The message is for the client. */
export class MutationError extends Error {
  override readonly name = "MutationError";
}

/** The value of the expression of a mutation. Throws MutationError. */
export function evaluateMutation(
  { variables }: MutatingPolicy,
  { expression }: Mutation,
  input: ExpressionInput,
): cel.Value {
  if (!expression.ok) throw new MutationError(expression.fault);
  try {
    const evaluated = new Activation(input, variables).evaluate(expression, celLimits.perObject);
    if (evaluated.ok) return evaluated.value;
    throw new MutationError(evaluated.error);
  } catch (error) {
    if (error instanceof CostBudgetError) throw new MutationError(error.message, { cause: error });
    throw error;
  }
}
