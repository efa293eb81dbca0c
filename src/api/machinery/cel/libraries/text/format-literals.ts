/**
 * Format strings that can only fail: `'%d'.format(['a'])` is refused when it is written, at the argument that does not
 * fit.
 */

import type { Checked } from "../../check/checked.ts";
import type { Expr } from "../../syntax/ast.ts";
import type { Issue } from "../../syntax/source.ts";
import { type Type, typeName } from "../../values/type.ts";
import { CelError } from "../../values/value.ts";
import { interpolate, type Letter, uses } from "./string-format.ts";

const texts = [
  "list",
  "map",
  "int",
  "uint",
  "double",
  "bool",
  "string",
  "timestamp",
  "bytes",
  "duration",
  "type",
  "null_type",
];

/** The kinds of types that each clause accepts. */
const kinds: Readonly<Record<Letter, readonly string[]>> = {
  s: texts,
  d: ["int", "uint"],
  // A string may be one of NaN, Infinity and -Infinity.
  f: ["double", "string"],
  e: ["double", "string"],
  b: ["int", "uint", "bool"],
  o: ["int", "uint"],
  x: ["int", "uint", "string", "bytes"],
  X: ["int", "uint", "string", "bytes"],
};

export function formatLiteralIssues({ references, types }: Checked): readonly Issue[] {
  const issues: Issue[] = [];
  for (const [call, reference] of references) {
    if (reference.kind !== "call" || !reference.overloads.some(({ id }) => id === "string_format")) continue;
    const [template, list] = reference.args;
    if (template?.kind !== "literal" || typeof template.value !== "string" || list?.kind !== "list") continue;
    issues.push(...templateIssues(template.value, list.items, call.offset, types));
  }
  return issues;
}

function templateIssues(
  template: string,
  items: readonly Expr[],
  offset: number,
  types: ReadonlyMap<Expr, Type>,
): readonly Issue[] {
  let used = 0;
  let at = offset;
  const outcome = interpolate(template, items.length, ({ letter }, index) => {
    used = index + 1;
    const item = items[index];
    const misfit = item && firstMisfit(item, letter, types);
    if (misfit === undefined) return "";
    at = misfit.offset;
    return new CelError(`${uses[letter]}, was given ${typeName(types.get(misfit) ?? { kind: "error" })}`);
  });
  if (outcome instanceof CelError) return [{ message: outcome.message, offset: at }];
  if (used === items.length) return [];
  const message = `too many arguments supplied to string.format (expected ${used}, got ${items.length})`;
  return [{ message, offset }];
}

/** The argument itself, or for %s its parts, as far as they are literals. */
function firstMisfit(expr: Expr, letter: Letter, types: ReadonlyMap<Expr, Type>): Expr | undefined {
  const kind = types.get(expr)?.kind ?? "error";
  if (kind !== "dyn" && kind !== "error" && !kinds[letter].includes(kind)) return expr;
  if (letter !== "s") return undefined;
  const parts =
    expr.kind === "list"
      ? expr.items
      : expr.kind === "map"
        ? expr.entries.flatMap(({ key, value }) => [key, value])
        : [];
  for (const part of parts) {
    const misfit = firstMisfit(part, letter, types);
    if (misfit !== undefined) return misfit;
  }
  return undefined;
}
