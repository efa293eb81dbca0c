/**
 * A compiled rule: its expression, its message expression, and their estimated costs.
 *
 * 1. A rule that does not compile is kept with its fault, and running it reports the fault.
 */
import {
  celEnvironment,
  type Environment,
  escapeName,
  maxCardinality,
  type Program,
  sizesOf,
  typeFromSchema,
  types,
} from "../../machinery/cel/index.ts";
import { baseLibraries, celLimits } from "../../machinery/cel/libraries/index.ts";
import type { FieldPath } from "../../machinery/errors/field-error.ts";
import type { JsonObject } from "../../machinery/json/json.ts";
import { once } from "../../machinery/schema/memo.ts";
import type { ValidationRule } from "../../types/apiextensions-v1.ts";
import { FieldReferenceError, fieldReference } from "../schema/field-reference.ts";
import type { Structural } from "../schema/structural.ts";

export { celLimits };

export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Why it does not compile. */
  readonly fault?: string;
  /** Absent for an empty rule, too. */
  readonly program?: Program;
  readonly usesOldSelf: boolean;
  /** Estimated, for one evaluation. */
  readonly cost: number;
  readonly message?: Program;
  readonly messageFault?: string;
  readonly messageCost: number;
  /** Where its faults are reported, if not at the node itself. */
  readonly field?: FieldPath | undefined;
}

export interface CompiledRules {
  readonly type: CelType;
  readonly rules: readonly CompiledRule[];
  /** How often this node may occur in one request, if nothing else limits that. */
  readonly cardinality: number;
}

export function compileRules(node: Structural, type: CelType): CompiledRules {
  return {
    type,
    rules: node.rules.map((rule) => compileRule(rule, node, type)),
    cardinality: maxCardinality(type),
  };
}

/** All rules share the libraries; only the type of `self` differs. */
const base = once(() => celEnvironment({ libraries: baseLibraries() }));

function environmentOf(self: CelType, optionalOldSelf: boolean): Environment {
  return base().extend({ variables: { self, oldSelf: optionalOldSelf ? types.optional(self) : self } });
}

const nothing = { usesOldSelf: false, cost: 0, messageCost: 0 };

function compileRule(rule: ValidationRule, node: Structural, type: CelType): CompiledRule {
  if (rule.rule.trim() === "") return { ...nothing, rule };
  const environment = environmentOf(type, rule.optionalOldSelf === true);
  const compilation = environment.compile(rule.rule);
  if (!compilation.ok) return { ...nothing, rule, fault: `compilation failed: ${compilation.issues}` };
  if (compilation.type.kind !== "bool") return { ...nothing, rule, fault: "cel expression must evaluate to a bool" };
  return {
    rule,
    program: compilation.program,
    usesOldSelf: compilation.uses.has("oldSelf"),
    cost: compilation.estimate(sizesOf(type)).max,
    ...compileMessage(rule.messageExpression, environment, type),
    field: fieldOf(rule, node),
  };
}

function compileMessage(
  expression: string | undefined,
  environment: Environment,
  type: CelType,
): Pick<CompiledRule, "message" | "messageFault" | "messageCost"> {
  if (!expression) return { messageCost: 0 };
  const compilation = environment.compile(expression);
  if (!compilation.ok)
    return { messageFault: `messageExpression compilation failed: ${compilation.issues}`, messageCost: 0 };
  if (compilation.type.kind !== "string")
    return { messageFault: "messageExpression must evaluate to a string", messageCost: 0 };
  return { message: compilation.program, messageCost: compilation.estimate(sizesOf(type)).max };
}

function fieldOf({ fieldPath }: ValidationRule, node: Structural): FieldPath | undefined {
  if (!fieldPath) return undefined;
  try {
    return fieldReference(fieldPath, node.source).path;
  } catch (error) {
    if (error instanceof FieldReferenceError) return undefined;
    throw error;
  }
}

export type CelType = types.Type;

/** Undefined if CEL cannot see the node. */
export function rootType(node: Structural, isResource: boolean): CelType | undefined {
  return typeFromSchema(node.source as unknown as JsonObject, { name: "self", resource: isResource });
}

export function fieldType(parent: CelType | undefined, name: string, field: Structural): CelType | undefined {
  const escaped = escapeName(name);
  // A field whose name cannot be escaped cannot be reached from above, but may have rules of its own.
  if (escaped === undefined) return rootType(field, field.embedded);
  return parent?.kind === "object" ? parent.fields.get(escaped)?.type : undefined;
}

export function itemType(parent: CelType | undefined): CelType | undefined {
  return parent?.kind === "list" ? parent.element : undefined;
}

export function entryType(parent: CelType | undefined): CelType | undefined {
  return parent?.kind === "map" ? parent.value : undefined;
}
