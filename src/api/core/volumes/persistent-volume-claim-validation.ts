/** Validation of claims. Mutable are the size once the claim is bound, and the volume that it is bound to. */

import {
  type FieldError,
  type FieldPath,
  forbidden,
  immutable,
  invalid,
  required,
} from "../../machinery/errors/field-error.ts";
import { equalJson } from "../../machinery/json/equal.ts";
import type { Json } from "../../machinery/json/json.ts";
import { validateLabelSelector } from "../../machinery/names/labels.ts";
import { compareQuantities, parseQuantity } from "../../machinery/scalars/quantity.ts";
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from "../../types/core-v1.ts";
import {
  accessModeFaults,
  classNameFaults,
  emptySizeFaults,
  negativeSizeFaults,
  volumeModeFaults,
} from "./volume-fields.ts";

export function validateClaim({ spec = {} }: PersistentVolumeClaim, path: FieldPath): readonly FieldError[] {
  return validateClaimSpec(spec, path.child("spec"));
}

/** Also for claim templates of StatefulSets and for ephemeral volumes of pods. */
export function validateClaimSpec(spec: PersistentVolumeClaimSpec, path: FieldPath): readonly FieldError[] {
  const modes = spec.accessModes ?? [];
  const errors: FieldError[] = [];
  if (modes.length === 0) errors.push(required(path.child("accessModes"), "at least 1 access mode is required"));
  errors.push(...validateLabelSelector(spec.selector, path.child("selector")));
  errors.push(...accessModeFaults(modes, path.child("accessModes")));
  const size = spec.resources?.requests?.storage;
  const where = path.child("resources").key("storage");
  if (size === undefined) errors.push(required(where));
  else errors.push(...emptySizeFaults(size, where), ...negativeSizeFaults(size, where));
  errors.push(...classNameFaults(spec.storageClassName, path.child("storageClassName")));
  errors.push(...volumeModeFaults(spec.volumeMode, path.child("volumeMode")));
  for (const field of ["dataSource", "dataSourceRef"] as const)
    errors.push(...validateSource(spec[field], path.child(field)));
  const { dataSource, dataSourceRef } = spec;
  if (dataSource !== undefined && dataSourceRef !== undefined) {
    const same = ["apiGroup", "kind", "name"].every(
      (key) =>
        (dataSource as unknown as Record<string, unknown>)[key] ===
        (dataSourceRef as unknown as Record<string, unknown>)[key],
    );
    if (!same) errors.push(invalid(path, path.child("dataSource").toString(), "must match dataSourceRef"));
  }
  errors.push(...classNameFaults(spec.volumeAttributesClassName, path.child("volumeAttributesClassName")));
  return errors;
}

export function validateClaimUpdate(
  next: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const where = path.child("spec");
  if (!equalJson(settled(next, old), settled(old, old))) {
    const why =
      "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
    errors.push(forbidden(where, why));
  }
  const [before, after] = [old.spec?.resources?.requests?.storage, next.spec?.resources?.requests?.storage];
  const provided = old.status?.capacity?.storage;
  if (
    before !== undefined &&
    after !== undefined &&
    smaller(after, before) &&
    provided !== undefined &&
    !smaller(provided, after)
  ) {
    const at = where.child("resources", "requests", "storage");
    errors.push(forbidden(at, "field can not be less than status.capacity"));
  }
  if (next.spec?.volumeMode !== old.spec?.volumeMode)
    errors.push(immutable(path.child("volumeMode"), next.spec?.volumeMode ?? null));
  return errors;
}

export function validateClaimStatus(
  { status }: PersistentVolumeClaim,
  _old: PersistentVolumeClaim,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const conditions = status?.conditions ?? [];
  if (conditions.some(({ type }) => !type)) errors.push(required(path.child("status", "conditions")));
  for (const [name, amount] of Object.entries(status?.capacity ?? {})) {
    errors.push(...negativeSizeFaults(amount, path.child("status", "capacity").key(name)));
  }
  return errors;
}

function validateSource(
  source: { readonly apiGroup?: string; readonly kind: string; readonly name: string } | undefined,
  path: FieldPath,
): readonly FieldError[] {
  if (source === undefined) return [];
  const errors: FieldError[] = [];
  if (source.name === "") errors.push(required(path.child("name")));
  if (source.kind === "") errors.push(required(path.child("kind")));
  if ((source.apiGroup ?? "") === "" && source.kind !== "PersistentVolumeClaim") {
    errors.push(invalid(path, source.kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
  }
  return errors;
}

/**
 * A claim's spec without its mutable fields: the volume and the class if they were not set, and the size of a bound
 * claim.
 */
function settled({ spec = {} }: PersistentVolumeClaim, old: PersistentVolumeClaim): Json {
  const { volumeName, volumeAttributesClassName: _, resources, storageClassName, ...rest } = spec;
  const bound = old.status?.phase === "Bound";
  const { storage: __, ...requests } = resources?.requests ?? {};
  return {
    ...rest,
    ...(old.spec?.volumeName && volumeName ? { volumeName } : {}),
    ...(old.spec?.storageClassName === undefined ? {} : { storageClassName: storageClassName ?? null }),
    resources: { ...resources, requests: bound ? requests : (resources?.requests ?? {}) },
  } as unknown as Json;
}

function smaller(a: string, b: string): boolean {
  return compareQuantities(parseQuantity(a), parseQuantity(b)) < 0;
}
