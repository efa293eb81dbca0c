/** Fields that volumes and claims share. */
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
} from "../../machinery/errors/field-error.ts";
import { checkDns1123Subdomain } from "../../machinery/names/names.ts";
import { parseQuantity, scaledValue } from "../../machinery/scalars/quantity.ts";
import { notPositiveFaults } from "../resources/resource-list.ts";

/** Where the class stood before there was a field for it. */
export const classAnnotation = "volume.beta.kubernetes.io/storage-class";

const accessModes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const volumeModes = ["Block", "Filesystem"];

export function accessModeFaults(modes: readonly string[], where: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const mode of modes) if (!accessModes.includes(mode)) errors.push(notSupported(where, mode, accessModes));
  if (
    modes.includes("ReadWriteOncePod") &&
    modes.some((mode) => mode !== "ReadWriteOncePod" && accessModes.includes(mode))
  ) {
    errors.push(forbidden(where, "may not use ReadWriteOncePod with other access modes"));
  }
  return errors;
}

export function volumeModeFaults(mode: string | undefined, where: FieldPath): readonly FieldError[] {
  return mode === undefined || volumeModes.includes(mode) ? [] : [notSupported(where, mode, volumeModes)];
}

export function classNameFaults(name: string | undefined, where: FieldPath): readonly FieldError[] {
  return name ? checkDns1123Subdomain(name).map((why) => invalid(where, name, why)) : [];
}

export function negativeSizeFaults(text: string, where: FieldPath): readonly FieldError[] {
  const value = scaledValue(parseQuantity(text), 0);
  return value < 0n ? [invalid(where, Number(value), "must be a valid resource quantity")] : [];
}

export function emptySizeFaults(text: string, where: FieldPath): readonly FieldError[] {
  return notPositiveFaults(parseQuantity(text), text, where);
}
