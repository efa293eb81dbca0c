/** Paths that become files in a container. */
import { at, type FieldError, type FieldPath, invalid } from "../../../machinery/errors/field-error.ts";
import { validateNoBacksteps } from "../../volumes/current-sources.ts";

/** Relative, and without `..`. */
export function validateDescendingPath(path: string, where: FieldPath): readonly FieldError[] {
  const faults = validateNoBacksteps(path, where);
  return path.startsWith("/") ? [invalid(where, path, "must be a relative path"), ...faults] : faults;
}

/** Names that begin with two dots are reserved for the kubelet's atomic writer. */
export function validateFilePath(path: string, where: FieldPath): readonly FieldError[] {
  const faults = validateDescendingPath(path, where);
  return path.startsWith("..") && !path.startsWith("../")
    ? [...faults, invalid(where, path, "must not start with '..'")]
    : faults;
}

export function isNonLocalPath(path: string): boolean {
  return validateFilePath(path, at()).length > 0;
}

export function validateMode(mode: number | undefined, where: FieldPath): readonly FieldError[] {
  if (mode === undefined || (mode >= 0 && mode <= 0o777)) return [];
  return [invalid(where, mode, "must be a number between 0 and 0777 (octal), both inclusive")];
}
