/** Validation of metadata, on create and on update. */
import { validateManagedFields } from "./apply/index.ts";
import {
  type FieldError,
  type FieldPath,
  forbidden,
  immutable,
  invalid,
  NO_ERRORS,
  required,
  tooLong,
} from "./errors/field-error.ts";
import { equalJson } from "./json/equal.ts";
import type { Json } from "./json/json.ts";
import { validateLabels } from "./names/labels.ts";
import { checkDns1123Label, checkQualifiedName } from "./names/names.ts";
import type { ObjectMeta, OwnerReference } from "./schema/object.ts";

const MAX_ANNOTATIONS_BYTES = 256 * 1024;
const ORPHAN = "orphan";
const FOREGROUND = "foregroundDeletion";
/** Finalizers without a domain that the API itself defines. */
const STANDARD_FINALIZERS = new Set([ORPHAN, FOREGROUND, "kubernetes"]);

export interface MetaRules {
  readonly namespaced: boolean;
  /** Finalizers need a domain, unless the API itself defines them. Default: false. */
  readonly qualifiedFinalizers?: boolean;
  /** Faults of a name, or of the prefix in `generateName`. */
  validateName(name: string, isPrefix: boolean): readonly string[];
}

export function validateObjectMeta(meta: ObjectMeta, rules: MetaRules, at: FieldPath): readonly FieldError[] {
  const { namespace = "", generation = 0 } = meta;
  const errors: FieldError[] = validateNames(meta, rules, at);
  if (!rules.namespaced) {
    if (namespace !== "") errors.push(forbidden(at.child("namespace"), "not allowed on this type"));
  } else if (namespace === "") errors.push(required(at.child("namespace")));
  else for (const fault of checkDns1123Label(namespace)) errors.push(invalid(at.child("namespace"), namespace, fault));
  if (generation < 0) errors.push(invalid(at.child("generation"), generation, "must be greater than or equal to 0"));
  errors.push(...validateParts(meta, at));
  errors.push(...validateFinalizers(meta, at), ...managedFieldsErrors(meta, at));
  if (rules.qualifiedFinalizers === true) errors.push(...unqualifiedFinalizers(meta, at));
  return errors;
}

/** The name, and the prefix of a generated one. */
export function validateNames(
  { name = "", generateName = "" }: ObjectMeta,
  rules: Pick<MetaRules, "validateName">,
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  if (generateName !== "") {
    for (const fault of rules.validateName(generateName, true))
      errors.push(invalid(at.child("generateName"), generateName, fault));
  }
  if (name === "") errors.push(required(at.child("name"), "name or generateName is required"));
  else for (const fault of rules.validateName(name, false)) errors.push(invalid(at.child("name"), name, fault));
  return errors;
}

/** Most objects have few of these fields: paths are created only for those that exist. */
function validateParts({ labels, annotations, ownerReferences }: ObjectMeta, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (labels) errors.push(...validateLabels(labels, at.child("labels")));
  if (annotations) errors.push(...validateAnnotations(annotations, at.child("annotations")));
  if (ownerReferences) errors.push(...validateOwnerReferences(ownerReferences, at.child("ownerReferences")));
  return errors;
}

function managedFieldsErrors({ managedFields }: ObjectMeta, at: FieldPath): readonly FieldError[] {
  return managedFields ? validateManagedFields(managedFields, at.child("managedFields")) : [];
}

const FIXED = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const;

export function validateObjectMetaUpdate(
  meta: ObjectMeta,
  old: ObjectMeta,
  rules: Pick<MetaRules, "qualifiedFinalizers">,
  at: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = old.deletionTimestamp === undefined ? [] : newFinalizers(meta, old, at);
  if ((meta.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(invalid(at.child("generation"), meta.generation ?? 0, "must not be decremented"));
  }
  for (const field of FIXED) {
    const value = meta[field] ?? null;
    if (!equalJson(value, old[field] ?? null)) errors.push(immutable(at.child(field), value));
  }
  errors.push(...validateParts(meta, at), ...managedFieldsErrors(meta, at));
  if (rules.qualifiedFinalizers === true) errors.push(...unqualifiedFinalizers(meta, at));
  return errors;
}

export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  at: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    for (const fault of checkQualifiedName(key.toLowerCase())) errors.push(invalid(at, key, fault));
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > MAX_ANNOTATIONS_BYTES) errors.push(tooLong(at, MAX_ANNOTATIONS_BYTES));
  return errors;
}

function validateOwnerReferences(owners: readonly OwnerReference[], at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  let controller: string | undefined;
  for (const owner of owners) {
    errors.push(...validateOwnerReference(owner, at));
    if (owner.controller !== true) continue;
    const name = `${owner.kind}/${owner.name}`;
    if (controller === undefined) controller = name;
    else {
      const words = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      errors.push(invalid(at, owners as unknown as Json, words));
    }
  }
  return errors;
}

/** Kubernetes names the list, not the item. */
function validateOwnerReference(owner: OwnerReference, at: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const parts = owner.apiVersion.split("/");
  if (parts.length > 2 || (parts.at(-1) ?? "") === "") {
    errors.push(invalid(at.child("apiVersion"), owner.apiVersion, "version must not be empty"));
  }
  for (const field of ["kind", "name", "uid"] as const) {
    if ((owner[field] ?? "") === "") errors.push(invalid(at.child(field), owner[field] ?? "", "must not be empty"));
  }
  if (owner.apiVersion === "v1" && owner.kind === "Event") {
    errors.push(invalid(at, owner as unknown as Json, "/v1, Kind=Event is disallowed from being an owner"));
  }
  return errors;
}

/** Names with or without a domain. */
export function validateFinalizers({ finalizers }: ObjectMeta, path: FieldPath): readonly FieldError[] {
  if (finalizers === undefined) return NO_ERRORS;
  const at = path.child("finalizers");
  const errors = finalizers.flatMap((name) => checkQualifiedName(name).map((fault) => invalid(at, name, fault)));
  if (finalizers.includes(ORPHAN) && finalizers.includes(FOREGROUND)) {
    errors.push(invalid(at, [...finalizers], `finalizer ${ORPHAN} and ${FOREGROUND} cannot be both set`));
  }
  return errors;
}

function unqualifiedFinalizers({ finalizers }: ObjectMeta, path: FieldPath): readonly FieldError[] {
  if (finalizers === undefined) return NO_ERRORS;
  const why = "name is neither a standard finalizer name nor is it fully qualified";
  return finalizers.flatMap((name, i) =>
    name.includes("/") || STANDARD_FINALIZERS.has(name) ? [] : [invalid(path.child("finalizers").index(i), name, why)],
  );
}

function newFinalizers(meta: ObjectMeta, old: ObjectMeta, path: FieldPath): FieldError[] {
  const known = new Set(old.finalizers);
  const added = (meta.finalizers ?? []).filter((finalizer) => !known.has(finalizer)).sort();
  if (added.length === 0) return [];
  const list = added.map((finalizer) => JSON.stringify(finalizer)).join(", ");
  return [
    forbidden(
      path.child("finalizers"),
      `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`,
    ),
  ];
}
