import { defineKind } from "../definition/define-kind.ts";
import { type FieldError, type FieldPath, immutable, invalid } from "../machinery/errors/field-error.ts";
import { equalJson } from "../machinery/json/equal.ts";
import type { Json } from "../machinery/json/json.ts";
import { validateLabelSelector } from "../machinery/names/labels.ts";
import { checkDns1123Subdomain } from "../machinery/names/names.ts";
import { compareQuantities, parseQuantity, zeroQuantity } from "../machinery/scalars/quantity.ts";
import type { CSIStorageCapacity as CSIStorageCapacityObject } from "../types/storage-v1.ts";

/** CSIStorageCapacity: the capacity that a driver can still provide in a topology segment. */
export const CSIStorageCapacity = defineKind<CSIStorageCapacityObject>("storage.k8s.io/v1", "CSIStorageCapacity", {
  validate: validateCapacity,
  update: {
    allowUnconditional: false,
    validate: (next, old, path) => [
      ...(equalJson((next.nodeTopology ?? null) as Json, (old.nodeTopology ?? null) as Json)
        ? []
        : [immutable(path.child("nodeTopology"), (next.nodeTopology ?? null) as Json)]),
      ...(next.storageClassName === old.storageClassName
        ? []
        : [immutable(path.child("storageClassName"), next.storageClassName)]),
    ],
  },
});

function validateCapacity(capacity: CSIStorageCapacityObject, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [...validateLabelSelector(capacity.nodeTopology, path.child("nodeTopology"))];
  const { storageClassName } = capacity;
  for (const why of checkDns1123Subdomain(storageClassName))
    errors.push(invalid(path.child("storageClassName"), storageClassName, why));
  const { capacity: text } = capacity;
  if (text !== undefined && compareQuantities(parseQuantity(text), zeroQuantity) < 0) {
    errors.push(invalid(path.child("capacity"), text, "must be greater than or equal to 0"));
  }
  return errors;
}
