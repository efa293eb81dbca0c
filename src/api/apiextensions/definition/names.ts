/** The names of a kind. In a status they may be missing, where not all have been accepted. */
import { type FieldError, type FieldPath, invalid } from "../../machinery/errors/field-error.ts";
import { checkDns1035Label } from "../../machinery/names/names.ts";
import type { CustomResourceDefinitionNames } from "../../types/apiextensions-v1.ts";

export function nameFaults(names: CustomResourceDefinitionNames, path: FieldPath): readonly FieldError[] {
  const { plural = "", singular = "", kind = "", listKind = "", shortNames = [], categories = [] } = names;
  const errors = [
    ...labelFaults(plural, path.child("plural")),
    ...labelFaults(singular, path.child("singular")),
    ...kindFaults(kind, path.child("kind")),
    ...kindFaults(listKind, path.child("listKind")),
  ];
  for (const [i, name] of shortNames.entries()) errors.push(...wordFaults(name, path.child("shortNames").index(i)));
  if (kind !== "" && kind === listKind)
    errors.push(invalid(path.child("listKind"), listKind, "kind and listKind may not be the same"));
  for (const [i, name] of categories.entries()) errors.push(...wordFaults(name, path.child("categories").index(i)));
  return errors;
}

function labelFaults(name: string, path: FieldPath): readonly FieldError[] {
  return name === "" ? [] : wordFaults(name, path);
}

function wordFaults(name: string, path: FieldPath): readonly FieldError[] {
  const wrong = checkDns1035Label(name);
  return wrong.length === 0 ? [] : [invalid(path, name, wrong.join(","))];
}

function kindFaults(kind: string, path: FieldPath): readonly FieldError[] {
  const wrong = kind === "" ? [] : checkDns1035Label(kind.toLowerCase());
  if (wrong.length === 0) return [];
  return [invalid(path, kind, `may have mixed case, but should otherwise match: ${wrong.join(",")}`)];
}
