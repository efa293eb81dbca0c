/** Expressions in the environment of an admission policy, and their results as plain JavaScript: what tests compare. */
import type { Range } from "../../functions/cost.ts";
import { celEnvironment, type Environment } from "../../program/environment.ts";
import type { Binding } from "../../program/frame.ts";
import { CelError, ListValue, MapValue, Optional, type Outcome } from "../../values/value.ts";
import { admission, baseLibraries } from "../environment.ts";

type Bindings = Readonly<Record<string, Binding>>;

/** Nothing is worked out beforehand, so that everything costs what it costs. */
export const base: Environment = celEnvironment({ libraries: baseLibraries(), optimize: false });

const policies = admission(base);

/** The result; `error: …` where there is none. */
export function evaluate(expression: string, bindings: Bindings = {}, environment = policies): unknown {
  const evaluation = compiled(expression, environment).program.evaluate(bindings);
  return evaluation.ok ? plain(evaluation.value) : `error: ${evaluation.error}`;
}

/** Why an expression is refused; empty where it is not. */
export function issuesOf(expression: string, environment = policies): string {
  const compilation = environment.compile(expression);
  return compilation.ok ? "" : compilation.issues;
}

export function costOf(expression: string, bindings: Bindings = {}, environment = policies): number {
  return compiled(expression, environment).program.evaluate(bindings).cost;
}

export function estimateOf(
  expression: string,
  environment = policies,
  sizes?: (path: string) => Range | undefined,
): Range {
  return compiled(expression, environment).estimate(sizes && ((path) => sizes(path.join("."))));
}

function compiled(expression: string, environment: Environment) {
  const compilation = environment.compile(expression);
  if (!compilation.ok) throw new Error(compilation.issues);
  return compilation;
}

function plain(value: Outcome): unknown {
  if (value instanceof CelError) return `error: ${value.message}`;
  if (value instanceof ListValue) return Array.from({ length: value.size }, (_, index) => plain(value.at(index)));
  if (value instanceof MapValue)
    return Object.fromEntries([...value.keys()].map((key) => [String(key), plain(value.get(key) ?? null)]));
  if (value instanceof Optional) return value.value === undefined ? undefined : plain(value.value);
  return value;
}
