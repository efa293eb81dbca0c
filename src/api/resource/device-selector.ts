/** Device selectors: CEL expressions, compiled when they are written. */

import { sizesOf, types } from "../machinery/cel/index.ts";
import { baseEnvironment, deviceSelectors, deviceType } from "../machinery/cel/libraries/index.ts";
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  NO_ERRORS,
  required,
  tooLong,
} from "../machinery/errors/field-error.ts";
import { once } from "../machinery/schema/memo.ts";
import type { DeviceSelector } from "../types/resource-v1.ts";
import { validateSlice } from "./lists.ts";

const mostSelectors = 32;
const longestExpression = 10 * 1024;
const mostCost = 1_000_000;
const environment = once(() => deviceSelectors(baseEnvironment()));
const sizes = once(() => sizesOf(deviceType));

/** `stored`: the expressions were valid when they were written, and are not compiled again. */
export function validateSelectors(
  selectors: readonly DeviceSelector[] | undefined,
  stored: boolean,
  at: FieldPath,
): readonly FieldError[] {
  return validateSlice(
    selectors,
    mostSelectors,
    ({ cel }, where) => {
      if (cel === undefined) return [required(where.child("cel"))];
      return stored ? NO_ERRORS : expressionFaults(cel.expression, where.child("cel", "expression"));
    },
    at,
  );
}

function expressionFaults(text: string, at: FieldPath): readonly FieldError[] {
  if (text.length > longestExpression) return [tooLong(at, longestExpression)];
  const compiled = environment().compile(text);
  if (!compiled.ok) return [invalid(at, text, `compilation failed: ${compiled.issues}`)];
  if (!types.sameType(compiled.type, types.bool) && !types.sameType(compiled.type, types.dyn)) {
    return [invalid(at, text, `must evaluate to bool or the unknown type, not ${types.typeName(compiled.type)}`)];
  }
  return compiled.estimate(sizes()).max > mostCost ? [forbidden(at, "too complex, exceeds cost limit")] : NO_ERRORS;
}
