/** Faults of CEL expressions, reported at the field that holds them. */
import { type FieldError, type FieldPath, internal, invalid } from "../machinery/errors/field-error.ts";
import type { Expression } from "./expressions/index.ts";

/** `shown`: the expression as it was written, where it was compiled without the surrounding space. */
export function expressionFaults(
  expression: Expression,
  path: FieldPath,
  shown: string = expression.text,
): readonly FieldError[] {
  if (expression.ok) return [];
  const { fault } = expression;
  return [expression.internal ? internal(path, fault) : invalid(path, shown, fault)];
}
