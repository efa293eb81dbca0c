/**
 * An environment: the libraries, variables and types that expressions may use.
 *
 * 1. An environment is immutable and may be shared; `extend` gives another one and is cheap.
 * 2. A program holds no state between evaluations and may run any number of times.
 */
import { check } from "../check/check.ts";
import { estimateCost } from "../check/estimate.ts";
import { literalIssues } from "../check/literal-checks.ts";
import type { SizeEstimator } from "../check/sizes.ts";
import { OutOfBudget, type Range } from "../functions/cost.ts";
import type { Constant, FunctionDeclaration, Library, TypeDeclaration } from "../functions/function.ts";
import type { Names } from "../functions/names.ts";
import { standardLibrary } from "../standard/standard-library.ts";
import type { Macro } from "../syntax/macro.ts";
import { parse } from "../syntax/parser.ts";
import { formatIssues } from "../syntax/source.ts";
import { macroKey, type ParserLimits } from "../syntax/tree-builder.ts";
import { meta, type Type, typeName } from "../values/type.ts";
import { CelError, TypeValue, type Value } from "../values/value.ts";
import { compile } from "./compile.ts";
import { type Binding, Frame } from "./frame.ts";

export interface EnvironmentOptions {
  /** Besides the standard library, which is always there. */
  readonly libraries?: readonly Library[];
  readonly variables?: Readonly<Record<string, Type>>;
  /** Object types that expressions may construct: `Type{field: value}`. */
  readonly types?: readonly Type[];
  readonly container?: string;
  readonly limits?: ParserLimits;
  /** Computes what depends only on literals at compile time, without cost. Default: true. */
  readonly optimize?: boolean;
}

export interface Environment {
  compile(text: string): Compilation;
  extend(options: EnvironmentOptions): Environment;
}

export type Compilation =
  /** The issues, as users see them. */
  | {
      readonly ok: false;
      readonly issues: string;
      /** `check`: the expression is invalid. `program`: it is valid, but can only fail. */
      readonly stage: "check" | "program";
    }
  | {
      readonly ok: true;
      /** The type of the result. */
      readonly type: Type;
      readonly program: Program;
      /** The variables of the environment that the expression uses. */
      readonly uses: ReadonlySet<string>;
      /** The minimum and the maximum cost. Without sizes every size is unlimited. */
      readonly estimate: (sizes?: SizeEstimator) => Range;
    };

export interface Program {
  evaluate(variables: Readonly<Record<string, Binding>>, options?: EvaluationOptions): Evaluation;
}

export interface EvaluationOptions {
  /** The limit of the cost; unlimited if absent. */
  readonly budget?: number;
}

export type Evaluation =
  | { readonly ok: true; readonly value: Value; readonly cost: number }
  | {
      readonly ok: false;
      readonly error: string;
      readonly cost: number;
      /** The evaluation failed because the budget is spent. */
      readonly exhausted: boolean;
    };

export function celEnvironment(options: EnvironmentOptions = {}): Environment {
  return environment({
    ...options,
    libraries: [standardLibrary, ...(options.libraries ?? [])],
  });
}

interface Declared extends Names {
  readonly macros: ReadonlyMap<string, Macro>;
  readonly types: ReadonlyMap<string, TypeDeclaration>;
  readonly limits: ParserLimits | undefined;
  readonly optimize: boolean;
}

function environment(options: EnvironmentOptions, base?: Declared): Environment {
  const declared = declare(options, base);
  return {
    compile: (text) => compileText(text, declared),
    extend: (more) => environment(more, declared),
  };
}

function declare(options: EnvironmentOptions, base: Declared | undefined): Declared {
  const libraries = options.libraries ?? [];
  const types = new Map(base?.types);
  const constants = new Map(base?.constants);
  const declareType = (declaration: TypeDeclaration): void => {
    const { type } = declaration;
    const name = typeName(type);
    types.set(name, declaration);
    constants.set(name, { name, type: meta(type), value: new TypeValue(type) });
  };
  for (const library of libraries) {
    for (const declaration of library.types ?? []) declareType(declaration);
    for (const constant of library.constants ?? []) constants.set(constant.name, constant satisfies Constant);
  }
  for (const type of options.types ?? []) declareType({ type });
  const macros = libraries.flatMap((library) => library.macros ?? []);
  const limits = options.limits ?? base?.limits;
  return {
    container: options.container ?? base?.container ?? "",
    variables: new Map([...(base?.variables ?? []), ...Object.entries(options.variables ?? {})]),
    constants,
    types,
    functions: libraries.length === 0 && base !== undefined ? base.functions : mergedFunctions(libraries, base),
    macros: new Map([...(base?.macros ?? []), ...macros.map((macro) => [macroKey(macro), macro] as const)]),
    typeNamed: libraries.findLast(({ typeNamed }) => typeNamed !== undefined)?.typeNamed ?? base?.typeNamed,
    limits,
    optimize: options.optimize ?? base?.optimize ?? true,
  };
}

/** Overloads of one function may come from several libraries. */
function mergedFunctions(
  libraries: readonly Library[],
  base: Declared | undefined,
): ReadonlyMap<string, FunctionDeclaration> {
  const merged = new Map(base?.functions);
  for (const { name, overloads } of libraries.flatMap((library) => library.functions ?? [])) {
    const known = merged.get(name)?.overloads ?? [];
    const ids = new Set(overloads.map(({ id }) => id));
    merged.set(name, { name, overloads: [...known.filter(({ id }) => !ids.has(id)), ...overloads] });
  }
  return merged;
}

function refused(issues: string): Compilation {
  return { ok: false, issues, stage: "check" };
}

function compileText(text: string, declared: Declared): Compilation {
  const parsed = parse(text, declared.macros, declared.limits);
  if (!parsed.ok) return refused(formatIssues(text, parsed.issues));
  const checked = check(parsed.expr, declared);
  const issues = checked.issues.length > 0 ? checked.issues : literalIssues(checked);
  if (issues.length > 0) return refused(formatIssues(text, issues));
  const { run, variables, fault } = compile(checked, declared.variables, declared.optimize);
  if (fault !== undefined) return { ok: false, issues: fault, stage: "program" };
  return {
    ok: true,
    type: checked.types.get(checked.expr) ?? { kind: "error" },
    uses: new Set(variables.map(({ name }) => name)),
    estimate: (sizes = () => undefined) => estimateCost(checked, sizes, declared.types),
    program: {
      evaluate: (bindings, options) => {
        const frame = new Frame(variables, bindings, options?.budget);
        try {
          const outcome = run(frame);
          if (!(outcome instanceof CelError)) return { ok: true, value: outcome, cost: frame.spent };
          return { ok: false, error: outcome.message, cost: frame.spent, exhausted: false };
        } catch (error) {
          if (!(error instanceof OutOfBudget)) throw error;
          return { ok: false, error: error.message, cost: frame.spent, exhausted: true };
        }
      },
    },
  };
}
