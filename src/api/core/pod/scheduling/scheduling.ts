/** Tolerations, topology spread constraints, readiness gates and scheduling gates. */

import { fits, oneOf, positive } from "../../../definition/field-checks.ts";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from "../../../machinery/errors/field-error.ts";
import { goQuote } from "../../../machinery/json/go-text.ts";
import { validateLabelSelector } from "../../../machinery/names/labels.ts";
import { checkLabelValue, checkQualifiedName } from "../../../machinery/names/names.ts";
import type {
  PodReadinessGate,
  PodSchedulingGate,
  Toleration,
  TopologySpreadConstraint,
} from "../../../types/core-v1.ts";
import type { PodValidationOptions } from "../fields/validation-options.ts";
import { validateMatchLabelKeys, validateUnmergedKeys } from "./match-label-keys.ts";

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function validateTolerations(tolerations: readonly Toleration[], at: FieldPath): readonly FieldError[] {
  return tolerations.flatMap((toleration, i) => validateToleration(toleration, at.index(i)));
}

function validateToleration(
  { key = "", operator, value = "", effect, tolerationSeconds }: Toleration,
  at: FieldPath,
): readonly FieldError[] {
  const errors = key === "" ? [] : [...fits(checkQualifiedName, key, at.child("key"))];
  const where = at.child("operator");
  if (key === "" && operator !== "Exists") {
    const why = `operator must be Exists when \`key\` is empty, which means ${goQuote("match all values and all keys")}`;
    errors.push(invalid(where, operator ?? "", why));
  }
  if (tolerationSeconds !== undefined && effect !== "NoExecute") {
    errors.push(
      invalid(at.child("effect"), effect ?? "", "effect must be 'NoExecute' when `tolerationSeconds` is set"),
    );
  }
  errors.push(...validateOperator(operator ?? "", value, where));
  return effect ? [...errors, ...oneOf(effect, effects, at.child("effect"))] : errors;
}

function validateOperator(operator: string, value: string, at: FieldPath): readonly FieldError[] {
  switch (operator) {
    case "":
    case "Equal": {
      const faults = checkLabelValue(value);
      return faults.length === 0 ? [] : [invalid(at, value, faults.join(";"))];
    }
    case "Exists":
      return value === "" ? [] : [invalid(at, value, "value must be empty when `operator` is 'Exists'")];
    case "Lt":
    case "Gt":
      return [notSupported(at, operator, ["Equal", "Exists", "Lt", "Gt"])];
    default:
      return [notSupported(at, operator, ["Equal", "Exists"])];
  }
}

/** Tolerations can be added; of existing ones only tolerationSeconds may change. */
export function validateAddedTolerations(
  next: readonly Toleration[],
  old: readonly Toleration[],
  at: FieldPath,
): readonly FieldError[] {
  const kept = new Set(next.map(allButSeconds));
  if (!old.every((one) => kept.has(allButSeconds(one))))
    return [forbidden(at, "existing toleration can not be modified except its tolerationSeconds")];
  return validateTolerations(next, at);
}

function allButSeconds({ key, operator, value, effect }: Toleration): string {
  return JSON.stringify([key ?? "", operator ?? "", value ?? "", effect ?? ""]);
}

export function validateSpread(
  constraints: readonly TopologySpreadConstraint[],
  at: FieldPath,
  options: PodValidationOptions,
): readonly FieldError[] {
  const lastOf = new Map(constraints.map((constraint, i) => [spreadText(constraint), i]));
  return constraints.flatMap((constraint, i) => {
    const path = at.index(i);
    const { topologyKey, whenUnsatisfiable, maxSkew, minDomains, nodeAffinityPolicy, nodeTaintsPolicy } = constraint;
    const repeated = lastOf.get(spreadText(constraint)) !== i;
    return [
      ...positive(maxSkew ?? 0, path.child("maxSkew")),
      ...(topologyKey ? [] : [required(path.child("topologyKey"), "can not be empty")]),
      ...oneOf(whenUnsatisfiable ?? "", ["DoNotSchedule", "ScheduleAnyway"], path.child("whenUnsatisfiable")),
      ...(repeated ? [duplicate(path.child("{topologyKey, whenUnsatisfiable}"), spreadText(constraint))] : []),
      ...validateMinDomains(minDomains, whenUnsatisfiable, path.child("minDomains")),
      ...oneOf(nodeAffinityPolicy, ["Honor", "Ignore"], path.child("nodeAffinityPolicy")),
      ...oneOf(nodeTaintsPolicy, ["Honor", "Ignore"], path.child("nodeTaintsPolicy")),
      ...(options.unmergedMatchLabelKeys
        ? validateUnmergedKeys(constraint, path.child("matchLabelKeys"))
        : validateMatchLabelKeys(constraint, path)),
      ...(options.allowInvalidSpreadSelector
        ? []
        : validateLabelSelector(constraint.labelSelector, path.child("labelSelector"))),
    ];
  });
}

function spreadText({ topologyKey, whenUnsatisfiable }: TopologySpreadConstraint): string {
  return `{${topologyKey}, ${whenUnsatisfiable}}`;
}

function validateMinDomains(minDomains: number | undefined, action: string, at: FieldPath): readonly FieldError[] {
  if (minDomains === undefined) return [];
  const errors = [...positive(minDomains, at)];
  if (action !== "DoNotSchedule") {
    errors.push(invalid(at, minDomains, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`));
  }
  return errors;
}

export function validateReadinessGates(gates: readonly PodReadinessGate[], at: FieldPath): readonly FieldError[] {
  return gates.flatMap(({ conditionType }, i) =>
    fits(checkQualifiedName, conditionType, at.index(i).child("conditionType")),
  );
}

export function validateSchedulingGates(gates: readonly PodSchedulingGate[], at: FieldPath): readonly FieldError[] {
  const seen = new Set<string>();
  return gates.flatMap(({ name }, i) => {
    const errors = [...fits(checkQualifiedName, name, at.index(i))];
    if (seen.has(name)) errors.push(duplicate(at.index(i), name));
    seen.add(name);
    return errors;
  });
}

/** Scheduling gates can only be removed. */
export function validateRemovedGates(
  next: readonly PodSchedulingGate[],
  old: readonly PodSchedulingGate[],
  at: FieldPath,
): readonly FieldError[] {
  const places = new Map(next.map(({ name }, i) => [name, i]));
  for (const { name } of old) places.delete(name);
  return [...places].map(([name, i]) =>
    forbidden(at.index(i).child("name"), `only deletion is allowed, but found new scheduling gate '${name}'`),
  );
}
