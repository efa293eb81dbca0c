/** Validation of volumes, and of volumes that stand inline in a VolumeAttachment. */
import { fits, same } from "../../definition/field-checks.ts";
import { internalForm, storedForm } from "../../facts/index.ts";
import {
  type FieldError,
  type FieldPath,
  forbidden,
  immutable,
  notSupported,
  required,
} from "../../machinery/errors/field-error.ts";
import { jsonDiff } from "../../machinery/json/json-diff.ts";
import { asSent } from "../../machinery/json/sent-empty.ts";
import { checkDns1123Subdomain } from "../../machinery/names/names.ts";
import type { PersistentVolume, PersistentVolumeSpec, VolumeNodeAffinity } from "../../types/core-v1.ts";
import { validateNodeSelector } from "../node/node-selector.ts";
import { persistentSourceOf, validatePersistentSource } from "./persistent-sources.ts";
import {
  accessModeFaults,
  classNameFaults,
  emptySizeFaults,
  negativeSizeFaults,
  volumeModeFaults,
} from "./volume-fields.ts";

const reclaimPolicies = ["Delete", "Recycle", "Retain"];
const root = /^\/+(?:\.\/*)*$/;

export function validatePersistentVolume(
  { metadata, spec = {} }: PersistentVolume,
  path: FieldPath,
): readonly FieldError[] {
  return validatePersistentVolumeSpec(spec, path.child("spec"), { name: metadata.name ?? "", inline: false });
}

/** An inline volume has a CSI source, and none of the fields that a binding uses. */
export function validatePersistentVolumeSpec(
  spec: PersistentVolumeSpec,
  where: FieldPath,
  { name, inline }: { readonly name: string; readonly inline: boolean },
): readonly FieldError[] {
  const modes = spec.accessModes ?? [];
  const hasNodeAffinity = spec.nodeAffinity?.required !== undefined;
  const errors: FieldError[] = inline ? [...bindingFaults(spec, where)] : [];
  if (modes.length === 0) errors.push(required(where.child("accessModes")));
  errors.push(...accessModeFaults(modes, where.child("accessModes")));
  errors.push(...(inline ? inlineFaults(spec, where) : ownFaults(spec, where)));
  errors.push(...validatePersistentSource(spec, where, { name, hasNodeAffinity: hasNodeAffinity && !inline }));
  if (spec.persistentVolumeReclaimPolicy === "Recycle" && root.test(spec.hostPath?.path ?? "")) {
    const policyPath = where.child("persistentVolumeReclaimPolicy");
    errors.push(forbidden(policyPath, "may not be 'recycle' for a hostPath mount of '/'"));
  }
  errors.push(...(inline ? inlineModeFaults(spec, where) : modeFaults(spec, where)));
  return [...errors, ...validateAttributesClass(spec, where)];
}

const notInline = "may not be specified in the context of inline volumes";

function bindingFaults(spec: PersistentVolumeSpec, where: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (spec.claimRef !== undefined) errors.push(forbidden(where.child("claimRef"), notInline));
  if (Object.keys(spec.capacity ?? {}).length > 0) errors.push(forbidden(where.child("capacity"), notInline));
  if (spec.csi === undefined)
    errors.push(required(where.child("csi"), "has to be specified in the context of inline volumes"));
  return errors;
}

function inlineFaults(spec: PersistentVolumeSpec, where: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const policy = spec.persistentVolumeReclaimPolicy ?? "";
  if (policy !== "" && policy !== "Retain") {
    const policyPath = where.child("persistentVolumeReclaimPolicy");
    errors.push(forbidden(policyPath, "may only be Retain in the context of inline volumes"));
  }
  if (spec.nodeAffinity !== undefined) errors.push(forbidden(where.child("nodeAffinity"), notInline));
  return errors;
}

function ownFaults(spec: PersistentVolumeSpec, where: FieldPath): readonly FieldError[] {
  const { capacity = {}, persistentVolumeReclaimPolicy: policy } = spec;
  const size = where.child("capacity");
  const errors: FieldError[] = [];
  if (Object.keys(capacity).length === 0) errors.push(required(size));
  if (capacity.storage === undefined || Object.keys(capacity).length > 1)
    errors.push(notSupported(size, asSent(spec, "capacity"), ["storage"]));
  for (const [name, amount] of Object.entries(capacity)) {
    errors.push(...negativeSizeFaults(amount, size.key(name)), ...emptySizeFaults(amount, size.key(name)));
  }
  const policyPath = where.child("persistentVolumeReclaimPolicy");
  if (policy && !reclaimPolicies.includes(policy)) errors.push(notSupported(policyPath, policy, reclaimPolicies));
  return [...errors, ...validateAffinity(spec.nodeAffinity, where.child("nodeAffinity"))];
}

function inlineModeFaults(spec: PersistentVolumeSpec, where: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (spec.storageClassName) errors.push(forbidden(where.child("storageClassName"), notInline));
  if (spec.volumeMode !== undefined && spec.volumeMode !== "Filesystem") {
    const why = "may not specify volumeMode other than Filesystem in the context of inline volumes";
    errors.push(forbidden(where.child("volumeMode"), why));
  }
  return errors;
}

function modeFaults(spec: PersistentVolumeSpec, where: FieldPath): readonly FieldError[] {
  return [
    ...classNameFaults(spec.storageClassName, where.child("storageClassName")),
    ...volumeModeFaults(spec.volumeMode, where.child("volumeMode")),
  ];
}

function validateAttributesClass(spec: PersistentVolumeSpec, where: FieldPath): readonly FieldError[] {
  const { volumeAttributesClassName: name } = spec;
  if (name === undefined) return [];
  const path = where.child("volumeAttributesClassName");
  const errors = [
    ...(name === "" ? [required(path, "an empty string is disallowed")] : fits(checkDns1123Subdomain, name, path)),
  ];
  if (spec.csi === undefined)
    errors.push(required(where.child("csi"), "has to be specified when using volumeAttributesClassName"));
  return errors;
}

/** Validates the whole volume once more: an update reports its faults twice. */
export function validatePersistentVolumeUpdate(
  next: PersistentVolume,
  old: PersistentVolume,
  path: FieldPath,
): readonly FieldError[] {
  const errors = [...validatePersistentVolume(next, path)];
  const [before, after] = [old.spec ?? {}, withLateExpandSecret(next.spec ?? {}, old.spec ?? {})];
  if (!same(persistentSourceOf(before), persistentSourceOf(after))) {
    const type = "core.v1.PersistentVolumeSource";
    const diff = jsonDiff(storedForm(type, before), internalForm(type, after));
    const why = `spec.persistentvolumesource is immutable after creation\n${diff}`;
    errors.push(forbidden(path.child("spec", "persistentvolumesource"), why));
  }
  if (after.volumeMode !== before.volumeMode)
    errors.push(immutable(path.child("volumeMode"), after.volumeMode ?? null));
  const { nodeAffinity } = after;
  if (before.nodeAffinity !== undefined && !same(before.nodeAffinity, nodeAffinity)) {
    const shown = internalForm("core.v1.VolumeNodeAffinity", nodeAffinity);
    errors.push(immutable(path.child("nodeAffinity"), shown));
  }
  if (before.volumeAttributesClassName !== undefined && after.volumeAttributesClassName === undefined) {
    const where = path.child("spec", "volumeAttributesClassName");
    errors.push(forbidden(where, "update from non-nil value to nil is forbidden"));
  }
  return errors;
}

/** The secret for expansion may be added to a CSI volume later. */
function withLateExpandSecret(next: PersistentVolumeSpec, old: PersistentVolumeSpec): PersistentVolumeSpec {
  if (next.csi === undefined || old.csi === undefined || old.csi.controllerExpandSecretRef !== undefined) return next;
  const { controllerExpandSecretRef: _, ...csi } = next.csi;
  return { ...next, csi };
}

function validateAffinity(affinity: VolumeNodeAffinity | undefined, path: FieldPath): readonly FieldError[] {
  if (affinity === undefined) return [];
  if (affinity.required === undefined)
    return [required(path.child("required"), "must specify required node constraints")];
  return validateNodeSelector(affinity.required, path.child("required"));
}
