/** Validation of volumes. Of sources without a driver only the names are validated. */

import {
  type FieldError,
  type FieldPath,
  forbidden,
  immutable,
  notSupported,
  required,
} from "../../machinery/errors/field-error.ts";
import { equalJson } from "../../machinery/json/equal.ts";
import type { Json } from "../../machinery/json/json.ts";
import type { PersistentVolume, PersistentVolumeSpec, VolumeNodeAffinity } from "../../types/core-v1.ts";
import { validateNodeSelector } from "../node/node-selector.ts";
import {
  accessModeFaults,
  classNameFaults,
  emptySizeFaults,
  negativeSizeFaults,
  volumeModeFaults,
} from "./volume-fields.ts";
import { sourceFaults, volumeSources } from "./volume-sources.ts";

const reclaimPolicies = ["Delete", "Recycle", "Retain"];

export function validatePersistentVolume({ spec = {} }: PersistentVolume, path: FieldPath): readonly FieldError[] {
  const where = path.child("spec");
  const { capacity = {}, persistentVolumeReclaimPolicy: policy } = spec;
  const errors: FieldError[] = [];
  const modes = spec.accessModes ?? [];
  if (modes.length === 0) errors.push(required(where.child("accessModes")));
  errors.push(...accessModeFaults(modes, where.child("accessModes")));
  const size = where.child("capacity");
  if (Object.keys(capacity).length === 0) errors.push(required(size));
  if (capacity.storage === undefined || Object.keys(capacity).length > 1)
    errors.push(notSupported(size, capacity, ["storage"]));
  for (const [name, amount] of Object.entries(capacity)) {
    errors.push(...negativeSizeFaults(amount, size.key(name)), ...emptySizeFaults(amount, size.key(name)));
  }
  const policyPath = where.child("persistentVolumeReclaimPolicy");
  if (policy && !reclaimPolicies.includes(policy)) errors.push(notSupported(policyPath, policy, reclaimPolicies));
  errors.push(...validateAffinity(spec.nodeAffinity, where.child("nodeAffinity")));
  errors.push(...validateSource(spec, where));
  if (policy === "Recycle" && spec.hostPath !== undefined && /^\/+(?:\.\/*)*$/.test(spec.hostPath.path)) {
    errors.push(forbidden(policyPath, "may not be 'recycle' for a hostPath mount of '/'"));
  }
  errors.push(...classNameFaults(spec.storageClassName, where.child("storageClassName")));
  errors.push(...volumeModeFaults(spec.volumeMode, where.child("volumeMode")));
  const attributes = spec.volumeAttributesClassName;
  if (attributes !== undefined) {
    const at = where.child("volumeAttributesClassName");
    if (attributes === "") errors.push(required(at, "an empty string is disallowed"));
    errors.push(...classNameFaults(attributes, at));
    if (spec.csi === undefined)
      errors.push(required(where.child("csi"), "has to be specified when using volumeAttributesClassName"));
  }
  return errors;
}

export function validatePersistentVolumeUpdate(
  next: PersistentVolume,
  old: PersistentVolume,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (!equalJson(sourceOf(next.spec), sourceOf(old.spec))) {
    errors.push(
      forbidden(
        path.child("spec", "persistentvolumesource"),
        "spec.persistentvolumesource is immutable after creation",
      ),
    );
  }
  if (next.spec?.volumeMode !== old.spec?.volumeMode)
    errors.push(immutable(path.child("volumeMode"), next.spec?.volumeMode ?? null));
  const [before, after] = [old.spec?.nodeAffinity, next.spec?.nodeAffinity];
  if (before !== undefined && !equalJson(before as unknown as Json, (after ?? null) as Json)) {
    errors.push(immutable(path.child("spec", "nodeAffinity"), (after ?? null) as Json));
  }
  return errors;
}

function validateSource(spec: PersistentVolumeSpec, where: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  let found = 0;
  for (const source of volumeSources) {
    if (spec[source] === undefined) continue;
    if (found++ > 0) errors.push(forbidden(where.child(source), "may not specify more than 1 volume type"));
    else errors.push(...sourceFaults(spec, source, where.child(source)));
    if (source === "local" && spec.nodeAffinity === undefined) {
      errors.push(required(where.child("nodeAffinity"), "Local volume requires node affinity"));
    }
  }
  return found === 0 ? [required(where, "must specify a volume type")] : errors;
}

function validateAffinity(affinity: VolumeNodeAffinity | undefined, path: FieldPath): readonly FieldError[] {
  if (affinity === undefined) return [];
  if (affinity.required === undefined)
    return [required(path.child("required"), "must specify required node constraints")];
  return validateNodeSelector(affinity.required, path.child("required"));
}

function sourceOf(spec: PersistentVolumeSpec | undefined): Json {
  return Object.fromEntries(
    volumeSources.flatMap((name) => (spec?.[name] === undefined ? [] : [[name, spec[name]]])),
  ) as unknown as Json;
}
