/** Conditions that must be true before a Pod is bound to the node of a device, or that refuse it. */
import { type FieldError, type FieldPath, invalid } from "../machinery/errors/field-error.ts";
import { asSent } from "../machinery/json/sent-empty.ts";
import { duplicates, validateSlice } from "./lists.ts";
import { labelKeyFaults } from "./names.ts";

const mostConditions = 4;

interface BindingConditions {
  readonly bindingConditions?: readonly string[];
  readonly bindingFailureConditions?: readonly string[];
}

/** One list requires the other. */
export function validateBindingConditions(device: BindingConditions, at: FieldPath): readonly FieldError[] {
  const { bindingConditions: wanted, bindingFailureConditions: failures } = device;
  if (wanted === undefined && failures === undefined) return [];
  const [wantedAt, failuresAt] = [at.child("bindingConditions"), at.child("bindingFailureConditions")];
  const errors: FieldError[] = [
    ...validateSlice(wanted, mostConditions, labelKeyFaults, wantedAt),
    ...validateSlice(failures, mostConditions, labelKeyFaults, failuresAt),
    ...duplicates(wanted ?? [], (name) => name, wantedAt),
    ...duplicates(failures ?? [], (name) => name, failuresAt),
  ];
  for (const [i, name] of (failures ?? []).entries()) {
    if ((wanted ?? []).includes(name)) {
      errors.push(
        invalid(failuresAt.index(i), name, "bindingFailureConditions must not overlap with bindingConditions"),
      );
    }
  }
  const [hasWanted, hasFailures] = [(wanted ?? []).length > 0, (failures ?? []).length > 0];
  if (!hasWanted && hasFailures) {
    errors.push(
      invalid(
        wantedAt,
        asSent(device, "bindingConditions"),
        "bindingConditions are required to use bindingFailureConditions",
      ),
    );
  }
  if (hasWanted && !hasFailures) {
    errors.push(
      invalid(
        failuresAt,
        asSent(device, "bindingFailureConditions"),
        "bindingFailureConditions are required to use bindingConditions",
      ),
    );
  }
  return errors;
}
