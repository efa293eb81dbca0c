/** Validation of metav1 conditions. */
import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
  tooLong,
} from "../machinery/errors/field-error.ts";
import { checkQualifiedName } from "../machinery/names/names.ts";
import type { Condition } from "../types/meta-v1.ts";

const maxReasonBytes = 1024;
const maxMessageBytes = 32 * 1024;
const reasonPattern = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?";
const wholeReason = new RegExp(`^${reasonPattern}$`);
const reasonWords =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'";
const reasonExamples = "(e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', ";
const statuses = ["False", "True", "Unknown"];

export function validateConditions(conditions: readonly Condition[], at: FieldPath): readonly FieldError[] {
  const seen = new Set<string>();
  return conditions.flatMap((condition, i) => {
    const { type } = condition;
    const repeated = seen.has(type) ? [duplicate(at.index(i).child("type"), type)] : [];
    seen.add(type);
    return [...repeated, ...validateCondition(condition, at.index(i))];
  });
}

function validateCondition(condition: Condition, at: FieldPath): readonly FieldError[] {
  const { type = "", status = "", observedGeneration = 0, lastTransitionTime, reason = "", message = "" } = condition;
  const reasonAt = at.child("reason");
  const errors = checkQualifiedName(type).map((why) => invalid(at.child("type"), type, why));
  if (!statuses.includes(status)) errors.push(notSupported(at.child("status"), status, statuses));
  if (observedGeneration < 0) {
    errors.push(invalid(at.child("observedGeneration"), observedGeneration, "must be greater than or equal to zero"));
  }
  if (!lastTransitionTime) errors.push(required(at.child("lastTransitionTime"), "must be set"));
  if (reason === "") errors.push(required(reasonAt, "must be set"));
  else {
    if (!wholeReason.test(reason)) {
      errors.push(
        invalid(reasonAt, reason, `${reasonWords} ${reasonExamples}regex used for validation is '${reasonPattern}')`),
      );
    }
    if (reason.length > maxReasonBytes) errors.push(tooLong(reasonAt, maxReasonBytes));
  }
  if (message.length > maxMessageBytes) errors.push(tooLong(at.child("message"), maxMessageBytes));
  return errors;
}
