/** One evaluation: the values of variables, and the cost so far. */
import { isObject, type Json } from "../../json/json.ts";
import { Meter, OutOfBudget } from "../functions/cost.ts";
import { fromJson } from "../values/json-value.ts";
import type { Type } from "../values/type.ts";
import { CelError, type Outcome, type Value } from "../values/value.ts";

/**
 * The value of a variable: a CEL value; JSON, which is read by the variable's type; or a function that is called when
 * the variable is first used.
 */
export type Binding = Json | Value | (() => Json | Outcome);

export interface VariableDeclaration {
  readonly name: string;
  readonly type: Type;
}

export type Step = (frame: Frame) => Outcome;

/** Loops whose body costs nothing are bounded by the budget, too. */
const iterationsPerUnit = 4;

export class Frame extends Meter {
  /** Variables of comprehensions, by the slots that the compiler assigned. */
  readonly slots: Outcome[] = [];
  private readonly loaded: (Outcome | undefined)[] = [];
  private readonly declared: readonly VariableDeclaration[];
  private readonly bindings: Readonly<Record<string, Binding>>;
  private iterations = 0;

  constructor(
    declared: readonly VariableDeclaration[],
    bindings: Readonly<Record<string, Binding>>,
    budget: number | undefined,
  ) {
    super(budget);
    this.declared = declared;
    this.bindings = bindings;
  }

  variable(index: number): Outcome {
    const loaded = this.loaded[index];
    return loaded === undefined ? this.load(index) : loaded;
  }

  countIteration(): void {
    if (++this.iterations > this.budget * iterationsPerUnit) throw new OutOfBudget();
  }

  private load(index: number): Outcome {
    const { name, type } = this.declared[index] ?? { name: "", type: { kind: "dyn" } as const };
    const binding = Object.hasOwn(this.bindings, name) ? this.bindings[name] : undefined;
    const value = binding === undefined ? new CelError(`no such attribute(s): ${name}`) : bound(binding, type);
    this.loaded[index] = value;
    return value;
  }
}

function bound(binding: Binding | CelError, type: Type): Outcome {
  if (typeof binding === "function") return bound(binding(), type);
  if (isJson(binding)) return fromJson(binding, type);
  return binding;
}

function isJson(binding: Json | Outcome): binding is Json {
  if (typeof binding !== "object" || binding === null) return typeof binding !== "bigint";
  return Array.isArray(binding) || (isObject(binding) && Object.getPrototypeOf(binding) === Object.prototype);
}
