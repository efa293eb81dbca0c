/** Validates names of labels and of extended resources. */
import { checkQualifiedName, type FieldError, type FieldPath, field, isExtendedResource } from "#api";

export function checkLabelName(name: string, path: FieldPath): readonly FieldError[] {
  return checkQualifiedName(name).map((why) => field.invalid(path, name, why));
}

export function checkExtendedResource(name: string, path: FieldPath): readonly FieldError[] {
  const errors = checkLabelName(name, path);
  if (errors.length > 0) return errors;
  return isExtendedResource(name) ? [] : [field.invalid(path, name, "is an invalid extended resource name")];
}
