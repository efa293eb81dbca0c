/**
 * Updates of a claim. Mutable are: the volume and the class while they are not set; the size and the attributes class
 * once the claim is bound.
 */
import { same } from "../../definition/field-checks.ts";
import { internalForm, storedForm } from "../../facts/index.ts";
import { type FieldError, type FieldPath, forbidden, immutable } from "../../machinery/errors/field-error.ts";
import { jsonDiff } from "../../machinery/json/json-diff.ts";
import { keepSentEmpty, sentEmpty } from "../../machinery/json/sent-empty.ts";
import { compareQuantities, parseQuantity, type Quantity, zeroQuantity } from "../../machinery/scalars/quantity.ts";
import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  VolumeResourceRequirements,
} from "../../types/core-v1.ts";
import { classAnnotation } from "./volume-fields.ts";

type Amounts = Readonly<Record<string, string>>;

export function validateSpecChange(
  next: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  path: FieldPath,
): readonly FieldError[] {
  const where = path.child("spec");
  const errors: FieldError[] = [];
  if (!movesClassToField(next, old)) errors.push(...validateClassAnnotation(next, old, path));
  const [before, after] = [withLateVolume(old, next), withoutMutable(next, old)];
  if (!same(before, after)) {
    const diff = jsonDiff(
      storedForm("core.v1.PersistentVolumeClaimSpec", before),
      internalForm("core.v1.PersistentVolumeClaimSpec", after),
    );
    const why =
      "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
    errors.push(forbidden(where, `${why}\n${diff}`));
  }
  const size = sizeOf(next.spec?.resources?.requests);
  const isSmaller = compareQuantities(size, sizeOf(old.spec?.resources?.requests)) < 0;
  if (isSmaller && compareQuantities(size, sizeOf(old.status?.capacity)) <= 0) {
    const at = where.child("resources", "requests", "storage");
    errors.push(forbidden(at, "field can not be less than status.capacity"));
  }
  if (next.spec?.volumeMode !== old.spec?.volumeMode)
    errors.push(immutable(path.child("volumeMode"), next.spec?.volumeMode ?? null));
  return [...errors, ...validateAttributesClassChange(next, old, where.child("volumeAttributesClassName"))];
}

function sizeOf(amounts: Amounts | undefined): Quantity {
  return amounts?.storage === undefined ? zeroQuantity : parseQuantity(amounts.storage);
}

function validateAttributesClassChange(
  next: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  where: FieldPath,
): readonly FieldError[] {
  if (old.spec?.volumeAttributesClassName === undefined) return [];
  const name = next.spec?.volumeAttributesClassName;
  if (name === undefined) return [forbidden(where, "update from non-nil value to nil is forbidden")];
  const cleared = name === "" && old.spec.volumeAttributesClassName !== "";
  return cleared ? [forbidden(where, "update from non-nil value to an empty string is forbidden")] : [];
}

/** A claim may name in its field the class that its annotation named. */
function movesClassToField({ spec, metadata }: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const before = old.metadata.annotations?.[classAnnotation];
  if (before === undefined || old.spec?.storageClassName !== undefined) return false;
  return spec?.storageClassName === before && (metadata.annotations?.[classAnnotation] ?? before) === before;
}

function validateClassAnnotation(
  next: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  path: FieldPath,
): readonly FieldError[] {
  const name = next.metadata.annotations?.[classAnnotation] ?? "";
  if (name === (old.metadata.annotations?.[classAnnotation] ?? "")) return [];
  return [immutable(path.child("metadata", "annotations").key(classAnnotation), name)];
}

/** The volume may be set once. */
function withLateVolume({ spec = {} }: PersistentVolumeClaim, next: PersistentVolumeClaim): PersistentVolumeClaimSpec {
  if (spec.volumeName || !next.spec?.volumeName) return spec;
  return { ...spec, volumeName: next.spec.volumeName };
}

/** The new spec, with its mutable fields set to their old values. */
function withoutMutable(
  { spec = {} }: PersistentVolumeClaim,
  { spec: before = {}, metadata, status }: PersistentVolumeClaim,
): PersistentVolumeClaimSpec {
  const { storageClassName, volumeAttributesClassName, resources, ...rest } = spec;
  const bound = status?.phase === "Bound";
  const annotated = metadata.annotations?.[classAnnotation];
  const setsClass =
    storageClassName !== undefined &&
    before.storageClassName === undefined &&
    (annotated === undefined || annotated === storageClassName);
  const attributes =
    bound && volumeAttributesClassName !== undefined ? before.volumeAttributesClassName : volumeAttributesClassName;
  const settled = {
    ...rest,
    ...(resources === undefined ? {} : { resources: withOldAmounts(resources, before.resources, bound) }),
    ...(storageClassName === undefined || setsClass ? {} : { storageClassName }),
    ...(attributes === undefined ? {} : { volumeAttributesClassName: attributes }),
  };
  keepSentEmpty(spec, settled);
  return settled;
}

/** Amounts that are equal count as unchanged, however they are written; so does the size of a bound claim. */
function withOldAmounts(
  resources: VolumeResourceRequirements,
  old: VolumeResourceRequirements | undefined,
  bound: boolean,
): VolumeResourceRequirements {
  const { limits } = resources;
  const requests = resources.requests ?? (bound && sentEmpty(resources, "requests") !== undefined ? {} : undefined);
  const size = bound ? { storage: old?.requests?.storage ?? "0" } : {};
  const settled = {
    ...(limits === undefined ? {} : { limits: unified(limits, old?.limits) }),
    ...(requests === undefined ? {} : { requests: { ...unified(requests, old?.requests), ...size } }),
  };
  keepSentEmpty(resources, settled);
  return settled;
}

function unified(amounts: Amounts, old: Amounts = {}): Amounts {
  return Object.fromEntries(
    Object.entries(amounts).map(([name, amount]) => {
      // A name may be that of something inherited, such as __proto__.
      const before = Object.hasOwn(old, name) ? old[name] : undefined;
      const isSame = before !== undefined && compareQuantities(parseQuantity(amount), parseQuantity(before)) === 0;
      return [name, isSame ? before : amount];
    }),
  );
}
