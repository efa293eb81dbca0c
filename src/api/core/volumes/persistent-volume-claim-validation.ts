/** Validation of claims, and of the templates of claims. */
import { fits, requireText } from "../../definition/field-checks.ts";
import {
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from "../../machinery/errors/field-error.ts";
import { validateLabelSelector } from "../../machinery/names/labels.ts";
import { checkDns1123Label, checkDns1123Subdomain, checkQualifiedName } from "../../machinery/names/names.ts";
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from "../../types/core-v1.ts";
import { validateSpecChange } from "./claim-update.ts";
import {
  accessModeFaults,
  classNameFaults,
  emptySizeFaults,
  negativeSizeFaults,
  volumeModeFaults,
} from "./volume-fields.ts";

/** What an old claim allows its new version, because it was valid once. */
export interface ClaimOptions {
  readonly anyApiGroup: boolean;
}

const newClaim: ClaimOptions = { anyApiGroup: false };

export function validateClaim(
  { spec = {} }: PersistentVolumeClaim,
  path: FieldPath,
  options: ClaimOptions = newClaim,
): readonly FieldError[] {
  return validateClaimSpec(spec, path.child("spec"), options);
}

/** Also for claim templates of StatefulSets and for ephemeral volumes of pods. */
export function validateClaimSpec(
  spec: PersistentVolumeClaimSpec,
  path: FieldPath,
  options: ClaimOptions = newClaim,
): readonly FieldError[] {
  const modes = spec.accessModes ?? [];
  const errors: FieldError[] = [];
  if (modes.length === 0) errors.push(required(path.child("accessModes"), "at least 1 access mode is required"));
  errors.push(...validateLabelSelector(spec.selector, path.child("selector")));
  errors.push(...accessModeFaults(modes, path.child("accessModes")));
  const size = spec.resources?.requests?.storage;
  const where = path.child("resources").key("storage");
  errors.push(...(size === undefined ? [required(where)] : emptySizeFaults(size, where)));
  errors.push(...classNameFaults(spec.storageClassName, path.child("storageClassName")));
  errors.push(...volumeModeFaults(spec.volumeMode, path.child("volumeMode")));
  for (const field of ["dataSource", "dataSourceRef"] as const)
    errors.push(...validateSource(spec[field], path.child(field), options));
  errors.push(...validateSourcesAgree(spec, path));
  return [...errors, ...classNameFaults(spec.volumeAttributesClassName, path.child("volumeAttributesClassName"))];
}

/** Both fields name one source. The refusal shows an empty structure: Kubernetes prints a path without its fields. */
function validateSourcesAgree(
  { dataSource, dataSourceRef }: PersistentVolumeClaimSpec,
  path: FieldPath,
): readonly FieldError[] {
  if (dataSource === undefined || dataSourceRef === undefined) return [];
  if (dataSourceRef.namespace) {
    return [invalid(path, {}, "may not be specified when dataSourceRef.namespace is specified")];
  }
  const isSame =
    dataSource.apiGroup === dataSourceRef.apiGroup &&
    dataSource.kind === dataSourceRef.kind &&
    dataSource.name === dataSourceRef.name;
  return isSame ? [] : [invalid(path, {}, "must match dataSourceRef")];
}

export function validateClaimUpdate(
  next: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  path: FieldPath,
): readonly FieldError[] {
  const { dataSource, dataSourceRef } = old.spec ?? {};
  const anyApiGroup = isSet(dataSource?.apiGroup) || isSet(dataSourceRef?.apiGroup);
  return [...validateClaim(next, path, { anyApiGroup }), ...validateSpecChange(next, old, path)];
}

const resizeStatuses = [
  "ControllerResizeInProgress",
  "ControllerResizeInfeasible",
  "NodeResizeInProgress",
  "NodeResizeInfeasible",
  "NodeResizePending",
].sort();

export function validateClaimStatus(
  { spec, status = {} }: PersistentVolumeClaim,
  _old: PersistentVolumeClaim,
  path: FieldPath,
): readonly FieldError[] {
  const where = path.child("status");
  const errors: FieldError[] = [];
  if ((spec?.accessModes ?? []).length === 0) errors.push(required(path.child("Spec", "accessModes")));
  for (const [name, amount] of Object.entries(status.capacity ?? {}))
    errors.push(...negativeSizeFaults(amount, where.child("capacity").key(name)));
  for (const [name, state] of Object.entries(status.allocatedResourceStatuses ?? {})) {
    const at = where.child("allocatedResourceStatus");
    errors.push(...resourceKeyFaults(name, at));
    if (!resizeStatuses.includes(state)) errors.push(notSupported(at, name, resizeStatuses));
  }
  for (const [name, amount] of Object.entries(status.allocatedResources ?? {})) {
    const at = where.child("allocatedResources");
    const faults = resourceKeyFaults(name, at);
    errors.push(...(faults.length > 0 ? faults : negativeSizeFaults(amount, at.key(name))));
  }
  return errors;
}

/** Of the resources without a domain, only storage can be claimed. */
function resourceKeyFaults(name: string, where: FieldPath): readonly FieldError[] {
  const faults = fits(checkQualifiedName, name, where);
  if (faults.length > 0 || name === "storage") return faults;
  return name.includes("/") && !name.includes("kubernetes.io/") ? [] : [notSupported(where, name, ["storage"])];
}

/** Absent groups are written as null. */
function isSet(apiGroup: string | null | undefined): boolean {
  return (apiGroup ?? null) !== null;
}

interface Source {
  readonly apiGroup?: string | null;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

function validateSource(
  source: Source | undefined,
  path: FieldPath,
  { anyApiGroup }: ClaimOptions,
): readonly FieldError[] {
  if (source === undefined) return [];
  const { kind, name, namespace } = source;
  const apiGroup = source.apiGroup ?? "";
  const errors = [...requireText(name, path.child("name")), ...requireText(kind, path.child("kind"))];
  if (apiGroup === "" && kind !== "PersistentVolumeClaim") {
    errors.push(invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
  }
  if (apiGroup !== "" && !anyApiGroup) errors.push(...fits(checkDns1123Subdomain, apiGroup, path.child("apiGroup")));
  if (namespace) errors.push(...fits(checkDns1123Label, namespace, path.child("namespace")));
  return errors;
}
