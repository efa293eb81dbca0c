/** Taints of devices, and the requests that tolerate them. */
import { oneOf, requireOneOf } from "../definition/field-checks.ts";
import { type FieldError, type FieldPath, invalid, notSupported, required } from "../machinery/errors/field-error.ts";
import type { DeviceTaint, DeviceToleration } from "../types/resource-v1.ts";
import { labelKeyFaults, labelValueFaults } from "./names.ts";

const effects = ["NoExecute", "NoSchedule", "None"];
const operators = ["Equal", "Exists"];

export function validateTaint({ key, value = "", effect }: DeviceTaint, at: FieldPath): readonly FieldError[] {
  return [
    ...labelKeyFaults(key, at.child("key")),
    ...labelValueFaults(value, at.child("value")),
    ...requireOneOf(effect, effects, at.child("effect")),
  ];
}

export function validateTolerations(
  tolerations: readonly DeviceToleration[] | undefined,
  at: FieldPath,
): readonly FieldError[] {
  return (tolerations ?? []).flatMap((toleration, i) => validateToleration(toleration, at.index(i)));
}

function validateToleration(toleration: DeviceToleration, at: FieldPath): readonly FieldError[] {
  const { key = "", effect } = toleration;
  return [
    ...(key === "" ? [] : labelKeyFaults(key, at.child("key"))),
    ...operatorFaults(toleration, at),
    ...oneOf(effect || undefined, effects, at.child("effect")),
  ];
}

function operatorFaults({ operator, value = "" }: DeviceToleration, at: FieldPath): readonly FieldError[] {
  switch (operator ?? "") {
    case "Exists":
      return value === "" ? [] : [invalid(at.child("value"), value, "must be empty for operator `Exists`")];
    case "Equal":
      return labelValueFaults(value, at.child("value"));
    case "":
      return [required(at.child("operator"))];
    default:
      return [notSupported(at.child("operator"), operator ?? "", operators)];
  }
}
