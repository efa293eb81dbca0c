import { fits, jsonOf } from "../definition/field-checks.ts";
import {
  duplicate,
  type FieldError,
  type FieldPath,
  immutable,
  invalid,
  notSupported,
  required,
  tooLong,
} from "../machinery/errors/field-error.ts";
import { equalJson } from "../machinery/json/equal.ts";
import type { Json } from "../machinery/json/json.ts";
import { checkQualifiedName } from "../machinery/names/names.ts";
import type { TopologySelectorLabelRequirement, TopologySelectorTerm } from "../types/core-v1.ts";
import type { StorageClass } from "../types/storage-v1.ts";

const maxParameters = 512;
const maxParameterBytes = 256 * 1024;

export function validateStorageClass(one: StorageClass, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { provisioner, reclaimPolicy, volumeBindingMode: mode } = one;
  errors.push(...provisionerFaults(provisioner, path.child("provisioner")));
  errors.push(...parameterFaults(one.parameters, true, path.child("parameters")));
  const policies = ["Delete", "Retain"];
  if (reclaimPolicy && !policies.includes(reclaimPolicy)) {
    errors.push(notSupported(path.child("reclaimPolicy"), reclaimPolicy, policies));
  }
  const modes = ["Immediate", "WaitForFirstConsumer"];
  if (mode === undefined) errors.push(required(path.child("volumeBindingMode")));
  else if (!modes.includes(mode)) errors.push(notSupported(path.child("volumeBindingMode"), mode, modes));
  return [...errors, ...validateTopologies(one.allowedTopologies ?? [], path.child("allowedTopologies"))];
}

/** Also of the drivers of VolumeAttributesClasses. The error shows the name in lower case. */
export function provisionerFaults(name: string, at: FieldPath): readonly FieldError[] {
  return name === "" ? [required(at)] : fits(checkQualifiedName, name.toLowerCase(), at);
}

/** How many faults of equal terms are reported. Kubernetes has no limit, and reports the square of their number. */
const maxRepeated = 1_000;

/**
 * No two terms may be equal. Kubernetes compares each also with as many empty terms as there are terms, so that an
 * empty one is refused that often.
 */
function validateTopologies(terms: readonly TopologySelectorTerm[], path: FieldPath): readonly FieldError[] {
  const seen = new Map([["", terms.length]]);
  let left = maxRepeated;
  return terms.flatMap((term, i) => {
    const at = path.index(i).child("matchLabelExpressions");
    const requirements = term.matchLabelExpressions ?? [];
    const identity = termIdentity(requirements);
    const before = seen.get(identity) ?? 0;
    const repeated = Array.from({ length: Math.min(before, left) }, () => duplicate(at, ""));
    left -= repeated.length;
    seen.set(identity, before + 1);
    const keys = new Set<string>();
    const errors = requirements.flatMap((requirement, j) => {
      const again = keys.has(requirement.key) ? [duplicate(at.index(j).child("key"), requirement.key)] : [];
      keys.add(requirement.key);
      return [...validateRequirement(requirement, at.index(j)), ...again];
    });
    return [...errors, ...repeated];
  });
}

function termIdentity(requirements: readonly TopologySelectorLabelRequirement[]): string {
  const values = new Map(requirements.map((one) => [one.key, [...new Set(one.values ?? [])].sort()]));
  return values.size === 0 ? "" : JSON.stringify([...values].sort());
}

function validateRequirement({ key, values }: TopologySelectorLabelRequirement, at: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = (values ?? []).length === 0 ? [required(at.child("values"))] : [];
  const seen = new Set<string>();
  for (const [i, value] of (values ?? []).entries()) {
    if (seen.has(value)) errors.push(duplicate(at.child("values").index(i), value));
    seen.add(value);
  }
  return [...errors, ...fits(checkQualifiedName, key, at.child("key"))];
}

/** Fields that determined existing volumes are immutable. */
export function validateStorageClassUpdate(
  next: StorageClass,
  old: StorageClass,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"] as const) {
    if (!equalJson((next[field] ?? {}) as Json, (old[field] ?? {}) as Json)) {
      errors.push(immutable(path.child(field), jsonOf(next[field])));
    }
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
