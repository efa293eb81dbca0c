/**
 * Expressions that are well typed but refused when they are written: literals that can only fail, such as `duration('1
 * hour')`, and lists and maps of mixed types. Arguments of functions that accept any mixture, such as `'%d
 * %s'.format([1, 'a'])`, may be mixed.
 */

import { durationFromText, timestampFromText } from "../standard/conversions.ts";
import { compileRegex } from "../standard/text-functions.ts";
import type { Expr } from "../syntax/ast.ts";
import type { Issue } from "../syntax/source.ts";
import { checkedTimestamp } from "../values/numbers.ts";
import { errorType, formatType, sameType, type Type } from "../values/type.ts";
import { CelError, type Value } from "../values/value.ts";
import type { Checked } from "./checked.ts";

const takesMixtures = new Set(["format"]);

type LiteralCheck = (value: Value) => boolean;

const checks: ReadonlyMap<string, LiteralCheck> = new Map<string, LiteralCheck>([
  ["duration", (value) => typeof value !== "string" || durationFromText(value) !== undefined],
  ["timestamp", isTimestamp],
  ["matches", (value) => typeof value !== "string" || !(compileRegex(value) instanceof CelError)],
]);

function isTimestamp(value: Value): boolean {
  if (typeof value === "bigint") return !(checkedTimestamp(value * 1_000_000_000n) instanceof CelError);
  if (typeof value !== "string") return true;
  const time = timestampFromText(value);
  return time !== undefined && !(time instanceof CelError);
}

export function literalIssues(checked: Checked): readonly Issue[] {
  const issues: Issue[] = [];
  visit(checked.expr, checked, false, issues);
  return issues;
}

function visit(expr: Expr, checked: Checked, mixed: boolean, issues: Issue[]): void {
  const into = (each: Expr, mayMix = mixed): void => visit(each, checked, mayMix, issues);
  const typeOf = (each: Expr): Type => checked.types.get(each) ?? errorType;
  switch (expr.kind) {
    case "select":
      into(expr.operand);
      break;
    case "call": {
      const exempt = mixed || takesMixtures.has(expr.name);
      if (expr.target !== undefined) into(expr.target, exempt);
      for (const arg of expr.args) into(arg, exempt);
      issues.push(...failing(expr.name, expr.args.at(-1)));
      break;
    }
    case "list":
      if (!mixed) {
        const optional = new Set(expr.items.filter((_, index) => expr.optional.has(index)));
        issues.push(...differing(expr.items, (item) => unwrapped(typeOf(item), optional.has(item))));
      }
      for (const item of expr.items) into(item);
      break;
    case "map":
      if (!mixed) {
        const optional = new Set(expr.entries.filter((entry) => entry.optional).map(({ value }) => value));
        issues.push(
          ...differing(
            expr.entries.map(({ key }) => key),
            typeOf,
          ),
        );
        issues.push(
          ...differing(
            expr.entries.map(({ value }) => value),
            (value) => unwrapped(typeOf(value), optional.has(value)),
          ),
        );
      }
      for (const { key, value } of expr.entries) {
        into(key);
        into(value);
      }
      break;
    case "struct":
      for (const { value } of expr.fields) into(value);
      break;
    case "comprehension":
      for (const part of [expr.range, expr.init, expr.condition, expr.step, expr.result]) into(part);
      break;
  }
}

/** The first item of another type than those before it. */
function differing(exprs: readonly Expr[], typeOf: (expr: Expr) => Type): readonly Issue[] {
  const [first, ...rest] = exprs;
  if (first === undefined) return [];
  const wanted = typeOf(first);
  for (const expr of rest) {
    const type = typeOf(expr);
    if (!sameType(wanted, type))
      return [
        { message: `expected type '${formatType(wanted)}' but found '${formatType(type)}'`, offset: expr.offset },
      ];
  }
  return [];
}

function unwrapped(type: Type, optional: boolean): Type {
  return optional && type.kind === "opaque" ? (type.parameters[0] ?? type) : type;
}

function failing(name: string, arg: Expr | undefined): readonly Issue[] {
  const fits = checks.get(name);
  if (fits === undefined || arg?.kind !== "literal" || fits(arg.value)) return [];
  return [{ message: `invalid ${name} argument`, offset: arg.offset }];
}
