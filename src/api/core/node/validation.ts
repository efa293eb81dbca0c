/**
 * Validation of nodes and of updates to them. Faults of taints are reported at the metadata, where taints once were.
 */

import { checkStrictCidr } from "../../definition/strict-ip.ts";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from "../../machinery/errors/field-error.ts";
import { parseCidr } from "../../machinery/names/ip.ts";
import { checkLabelValue, checkQualifiedName } from "../../machinery/names/names.ts";
import type { Node, Taint } from "../../types/core-v1.ts";
import { quantityFaults } from "../resources/resource-list.ts";

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function validateNode(node: Node, path: FieldPath): readonly FieldError[] {
  return [
    ...validateTaints(node.spec?.taints ?? [], path.child("metadata", "taints")),
    ...validateAmounts(node, path),
    ...validatePodCidrs(node.spec?.podCIDRs ?? [], path.child("spec", "podCIDRs")),
  ];
}

/** Validates taints and resources once more: an update reports their faults twice. */
export function validateNodeUpdate(next: Node, old: Node, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [
    ...validateTaints(next.spec?.taints ?? [], path.child("metadata", "taints")),
    ...validateAmounts(next, path),
  ];
  const seen = new Set<string>();
  for (const [i, { type, address }] of (next.status?.addresses ?? []).entries()) {
    const key = JSON.stringify([type, address]);
    if (seen.has(key))
      errors.push(duplicate(path.child("status", "addresses").index(i), { Type: type, Address: address }));
    seen.add(key);
  }
  const before = old.spec?.podCIDRs ?? [];
  const after = next.spec?.podCIDRs ?? [];
  if (before.length > 0 && before.join() !== after.join()) {
    errors.push(
      forbidden(path.child("spec", "podCIDRs"), 'node updates may not change podCIDR except from "" to valid'),
    );
  }
  if (old.spec?.providerID && old.spec.providerID !== next.spec?.providerID) {
    errors.push(
      forbidden(path.child("spec", "providerID"), 'node updates may not change providerID except from "" to valid'),
    );
  }
  if (next.spec?.externalID !== old.spec?.externalID)
    errors.push(forbidden(path.child("spec", "externalID"), "may not be updated"));
  return errors;
}

/** A status write changes the amounts of resources; the rest of the node stays as it was. */
export function validateNodeStatus(next: Node, old: Node, path: FieldPath): readonly FieldError[] {
  return [...validateAmounts(next, path), ...validateNodeUpdate(next, old, path)];
}

function validateAmounts({ status }: Node, path: FieldPath): readonly FieldError[] {
  return [
    ...resourceFaults(status?.capacity, path.child("status", "capacity")),
    ...resourceFaults(status?.allocatable, path.child("status", "allocatable")),
  ];
}

export function validateTaints(taints: readonly Taint[], path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, taint] of taints.entries()) {
    const { key, value = "", effect, timeAdded = null } = taint;
    const where = path.index(i);
    for (const why of checkQualifiedName(key)) errors.push(invalid(where.child("key"), key, why));
    const wrong = checkLabelValue(value);
    if (wrong.length > 0) errors.push(invalid(where.child("value"), value, wrong.join(";")));
    if ((effect as string) === "") errors.push(required(where.child("effect")));
    else if (!effects.includes(effect)) errors.push(notSupported(where.child("effect"), effect, effects));
    if (seen.has(`${effect} ${key}`)) {
      const twice = duplicate(where, { Key: key, Value: value, Effect: effect, TimeAdded: timeAdded });
      errors.push({ ...twice, detail: "taints must be unique by key and effect pair" });
    }
    seen.add(`${effect} ${key}`);
  }
  return errors;
}

function resourceFaults(
  resources: Readonly<Record<string, string>> | undefined,
  path: FieldPath,
): readonly FieldError[] {
  return Object.entries(resources ?? {}).flatMap(([name, quantity]) =>
    quantityFaults(name, quantity, path.child(name)),
  );
}

function validatePodCidrs(cidrs: readonly string[], path: FieldPath): readonly FieldError[] {
  const errors = cidrs.flatMap((cidr, i) => checkStrictCidr(path.index(i), cidr));
  if (cidrs.length > 1) {
    const families = new Set(cidrs.map((cidr) => parseCidr(cidr)?.bytes.length));
    if (cidrs.length > 2 || families.size !== 2) {
      errors.push(invalid(path, cidrs, "may specify no more than one CIDR for each IP family"));
    }
  }
  return errors;
}
