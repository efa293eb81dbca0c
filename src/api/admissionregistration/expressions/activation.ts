/**
 * The evaluation of expressions for one request: their variables and their budget.
 *
 * 1. A variable of a policy is evaluated once, when an expression first reads it. Its cost is charged to that
 *    expression.
 * 2. One evaluation may cost at most `celLimits.perCall`, all of them together at most the budget. When the budget is
 *    spent, evaluation stops.
 */
import type { Binding } from "../../machinery/cel/index.ts";
import { CelError, MapValue, type Outcome, type Value } from "../../machinery/cel/index.ts";
import {
  type Authorize,
  type AuthorizerUser,
  AuthorizerValue,
  type CheckedResource,
  celLimits,
  ResourceCheck,
} from "../../machinery/cel/libraries/index.ts";
import type { Json, JsonObject } from "../../machinery/json/json.ts";
import type { Expression } from "./compile.ts";

export interface ExpressionInput {
  /** null where there is no such object. */
  readonly object: Json;
  readonly oldObject: Json;
  readonly request: JsonObject;
  /** null for objects without a namespace. */
  readonly namespaceObject: Json;
  readonly params: Json;
  /** Absent where expressions have no authorizer. */
  readonly authorizer?: AuthorizerInput;
}

export interface AuthorizerInput {
  readonly user: AuthorizerUser;
  readonly authorize: Authorize;
  /** The resource that the request is about. */
  readonly resource: CheckedResource;
}

export type Evaluated =
  | { readonly ok: true; readonly value: Value; readonly remaining: number }
  | { readonly ok: false; readonly error: string; readonly remaining: number };

/** The whole budget is spent: nothing more is evaluated. */
export class CostBudgetError extends Error {
  override readonly name = "CostBudgetError";

  constructor() {
    super("validation failed due to running out of cost budget, no further validation rules will be run");
  }
}

export class Activation {
  readonly #bindings: Readonly<Record<string, Binding>>;
  readonly #variables: ComposedVariables;

  constructor(input: ExpressionInput, variables: ReadonlyMap<string, Expression> = new Map()) {
    const bindings: Record<string, Binding> = {
      object: input.object,
      oldObject: input.oldObject,
      request: input.request,
      namespaceObject: input.namespaceObject,
      params: input.params,
    };
    if (input.authorizer !== undefined) {
      const { user, authorize, resource } = input.authorizer;
      const authorizer = new AuthorizerValue(user, authorize);
      bindings.authorizer = authorizer;
      bindings["authorizer.requestResource"] = new ResourceCheck(authorizer, resource);
    }
    this.#variables = new ComposedVariables(variables, bindings);
    bindings.variables = this.#variables;
    this.#bindings = bindings;
  }

  /** Throws CostBudgetError. */
  evaluate(expression: Expression, budget: number): Evaluated {
    if (!expression.ok) return { ok: false, error: `compilation error: ${expression.fault}`, remaining: budget };
    const { evaluation, composed } = this.#variables.charging(budget, () =>
      expression.program.evaluate(this.#bindings, { budget: celLimits.perCall }),
    );
    const remaining = budget - composed - evaluation.cost;
    if (remaining < 0) throw new CostBudgetError();
    if (evaluation.ok) return { ok: true, value: evaluation.value, remaining };
    const error = `expression '${expression.text}' resulted in error: ${evaluation.error}`;
    return { ok: false, error, remaining };
  }
}

/** `variables`: each is evaluated when it is first read. */
class ComposedVariables extends MapValue {
  readonly #expressions: ReadonlyMap<string, Expression>;
  readonly #bindings: Readonly<Record<string, Binding>>;
  readonly #known = new Map<string, Outcome>();
  #spent = 0;
  #budget = 0;

  constructor(expressions: ReadonlyMap<string, Expression>, bindings: Readonly<Record<string, Binding>>) {
    super();
    this.#expressions = expressions;
    this.#bindings = bindings;
  }

  charging<T>(budget: number, run: () => T): { readonly evaluation: T; readonly composed: number } {
    this.#spent = 0;
    this.#budget = budget;
    return { evaluation: run(), composed: this.#spent };
  }

  override get size(): number {
    return this.#expressions.size;
  }

  override has(key: Value): boolean {
    return typeof key === "string" && this.#expressions.has(key);
  }

  override keys(): Iterable<Value> {
    return this.#expressions.keys();
  }

  override get(key: Value): Outcome | undefined {
    if (typeof key !== "string") return undefined;
    let outcome = this.#known.get(key);
    const expression = this.#expressions.get(key);
    if (outcome === undefined && expression !== undefined) {
      outcome = this.#workOut(key, expression);
      this.#known.set(key, outcome);
    }
    return outcome;
  }

  #workOut(name: string, expression: Expression): Outcome {
    const about = `composited variable ${JSON.stringify(name)}`;
    if (!expression.ok) return new CelError(`${about} fails to compile: ${expression.fault}`);
    const evaluation = expression.program.evaluate(this.#bindings, { budget: celLimits.perCall });
    this.#spent += evaluation.cost;
    if (this.#spent > this.#budget) throw new CostBudgetError();
    return evaluation.ok ? evaluation.value : new CelError(`${about} fails to evaluate: ${evaluation.error}`);
  }
}
