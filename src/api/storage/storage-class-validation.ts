import {
  type FieldError,
  type FieldPath,
  forbidden,
  immutable,
  invalid,
  notSupported,
  required,
  tooLong,
} from "../machinery/errors/field-error.ts";
import { equalJson } from "../machinery/json/equal.ts";
import type { Json } from "../machinery/json/json.ts";
import { checkLabelValue, checkQualifiedName } from "../machinery/names/names.ts";
import type { StorageClass } from "../types/storage-v1.ts";

export { csiDriverNameFaults } from "../core/index.ts";

const maxParameters = 512;
const maxParameterBytes = 256 * 1024;

export function validateStorageClass(one: StorageClass, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { provisioner, reclaimPolicy, volumeBindingMode: mode } = one;
  if (provisioner === "") errors.push(required(path.child("provisioner")));
  else
    for (const why of checkQualifiedName(provisioner.toLowerCase()))
      errors.push(invalid(path.child("provisioner"), provisioner, why));
  errors.push(...parameterFaults(one.parameters, true, path.child("parameters")));
  const policies = ["Delete", "Retain"];
  if (reclaimPolicy && !policies.includes(reclaimPolicy)) {
    errors.push(notSupported(path.child("reclaimPolicy"), reclaimPolicy, policies));
  }
  const modes = ["Immediate", "WaitForFirstConsumer"];
  if (mode === undefined) errors.push(required(path.child("volumeBindingMode")));
  else if (!modes.includes(mode)) errors.push(notSupported(path.child("volumeBindingMode"), mode, modes));
  for (const [i, term] of (one.allowedTopologies ?? []).entries()) {
    const at = path.child("allowedTopologies").index(i).child("matchLabelExpressions");
    for (const [j, { key, values }] of (term.matchLabelExpressions ?? []).entries()) {
      if ((values ?? []).length === 0) errors.push(required(at.index(j).child("values")));
      for (const value of values ?? []) {
        for (const why of checkLabelValue(value)) errors.push(invalid(at.index(j).child("values"), value, why));
      }
      for (const why of checkQualifiedName(key)) errors.push(invalid(at.index(j).child("key"), key, why));
    }
  }
  return errors;
}

/** Fields that determined existing volumes are immutable. */
export function validateStorageClassUpdate(
  next: StorageClass,
  old: StorageClass,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ["parameters", "provisioner", "reclaimPolicy"] as const) {
    if (!equalJson((next[field] ?? {}) as Json, (old[field] ?? {}) as Json)) {
      errors.push(forbidden(path.child(field), `updates to ${field} are forbidden.`));
    }
  }
  if (next.volumeBindingMode !== old.volumeBindingMode) {
    errors.push(immutable(path.child("volumeBindingMode"), next.volumeBindingMode ?? null));
  }
  return errors;
}

export function parameterFaults(
  parameters: Readonly<Record<string, string>> | undefined,
  allowEmpty: boolean,
  path: FieldPath,
): readonly FieldError[] {
  const entries = Object.entries(parameters ?? {});
  if (entries.length > maxParameters) return [tooLong(path, maxParameters)];
  const errors: FieldError[] = [];
  if (entries.length === 0 && !allowEmpty) errors.push(required(path, "must contain at least one key/value pair"));
  let size = 0;
  for (const [key, value] of entries) {
    if (key === "") errors.push(invalid(path, key, "field can not be empty."));
    size += key.length + value.length;
  }
  if (size > maxParameterBytes) errors.push(tooLong(path, maxParameterBytes));
  return errors;
}
