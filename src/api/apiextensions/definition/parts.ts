/** Validation of a definition's other parts: names, subresources, columns, selectable fields, deprecation warnings. */
import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  required,
  tooMany,
} from "../../machinery/errors/field-error.ts";
import { checkDns1035Label } from "../../machinery/names/names.ts";
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionNames,
  CustomResourceSubresources,
  JSONSchemaProps,
  SelectableField,
} from "../../types/apiextensions-v1.ts";
import { FieldReferenceError, fieldReference } from "../schema/field-reference.ts";
import { NotStructuralError, structuralOf } from "../schema/structural.ts";
import { maxSelectableFields } from "./requirements.ts";

const columnTypes = ["boolean", "date", "integer", "number", "string"];
const columnFormats = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];
const selectableTypes = ["string", "boolean", "integer"];

export function deprecationFaults(deprecated: boolean, warning: string | undefined): readonly string[] {
  if (warning === undefined) return [];
  if (!deprecated) return ["can only be set for deprecated versions"];
  const errors: string[] = [];
  const bytes = new TextEncoder().encode(warning).length;
  if (bytes > 256) errors.push("must be <= 256 characters long");
  if (bytes === 0) errors.push("must not be an empty string");
  const hidden = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning);
  if (hidden !== null) {
    const index = new TextEncoder().encode(warning.slice(0, hidden.index)).length;
    errors.push(`must only contain printable UTF-8 characters; non-printable character found at index ${index}`);
  }
  return errors;
}

export function subresourceFaults(
  subresources: CustomResourceSubresources | undefined,
  path: FieldPath,
): readonly FieldError[] {
  const scale = subresources?.scale;
  if (scale === undefined) return [];
  const { specReplicasPath = "", statusReplicasPath = "", labelSelectorPath = "" } = scale;
  const at = (name: string) => path.child(`scale.${name}`);
  return [
    ...replicasFaults(specReplicasPath, ".spec.", "should be a json path under .spec", at("specReplicasPath")),
    ...replicasFaults(statusReplicasPath, ".status.", "should be a json path under .status", at("statusReplicasPath")),
    ...(labelSelectorPath === "" ? [] : selectorFaults(labelSelectorPath, at("labelSelectorPath"))),
  ];
}

function replicasFaults(jsonPath: string, under: string, words: string, path: FieldPath): readonly FieldError[] {
  if (jsonPath === "") return [required(path)];
  const errors = simplePathFaults(jsonPath, path);
  return errors.length > 0 || jsonPath.startsWith(under) ? errors : [invalid(path, jsonPath, words)];
}

function selectorFaults(jsonPath: string, path: FieldPath): readonly FieldError[] {
  const errors = simplePathFaults(jsonPath, path);
  if (errors.length > 0 || jsonPath.startsWith(".spec.") || jsonPath.startsWith(".status.")) return errors;
  return [invalid(path, jsonPath, "should be a json path under either .spec or .status")];
}

function simplePathFaults(jsonPath: string, path: FieldPath): readonly FieldError[] {
  return jsonPath.startsWith(".") ? [] : [invalid(path, jsonPath, "must be a simple json path starting with .")];
}

export function columnFaults(
  columns: readonly CustomResourceColumnDefinition[] | undefined,
  path: FieldPath,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, { name = "", type = "", format = "", jsonPath = "" }] of (columns ?? []).entries()) {
    const at = path.index(i);
    if (name === "") errors.push(required(at.child("name")));
    const types = `must be one of ${columnTypes.join(",")}`;
    if (type === "") errors.push(required(at.child("type"), types));
    else if (!columnTypes.includes(type)) errors.push(invalid(at.child("type"), type, types));
    if (format !== "" && !columnFormats.includes(format))
      errors.push(invalid(at.child("format"), format, `must be one of ${columnFormats.join(",")}`));
    if (jsonPath === "") errors.push(required(at.child("JSONPath")));
    else errors.push(...simplePathFaults(jsonPath, at.child("JSONPath")));
  }
  return errors;
}

/** `schemaPath` is the path at which a schema without structure is reported. */
export function selectableFieldFaults(
  fields: readonly SelectableField[],
  schema: JSONSchemaProps,
  path: FieldPath,
  schemaPath: FieldPath,
  mayBeTooMany: boolean,
): readonly FieldError[] {
  try {
    structuralOf(schema);
  } catch (error) {
    if (!(error instanceof NotStructuralError)) throw error;
    return [invalid(schemaPath, "", error.message)];
  }
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, { jsonPath = "" }] of fields.entries())
    errors.push(...selectableFaults(jsonPath, schema, path.index(i).child("jsonPath"), seen));
  if (seen.size > maxSelectableFields && !mayBeTooMany) errors.push(tooMany(path, seen.size, maxSelectableFields));
  return errors;
}

function selectableFaults(
  jsonPath: string,
  root: JSONSchemaProps,
  path: FieldPath,
  seen: Set<string>,
): readonly FieldError[] {
  if (jsonPath === "") return [required(path)];
  try {
    const reference = fieldReference(jsonPath, root, { brackets: false });
    const errors: FieldError[] = [];
    if (reference.root === "metadata") errors.push(invalid(path, jsonPath, "must not point to fields in metadata"));
    if (!selectableTypes.includes(reference.schema?.type ?? "")) {
      const words =
        "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
      errors.push(invalid(path, jsonPath, words));
    }
    const name = reference.path.toString();
    if (seen.has(name)) errors.push(duplicate(path, jsonPath));
    seen.add(name);
    return errors;
  } catch (error) {
    if (!(error instanceof FieldReferenceError)) throw error;
    return [invalid(path, jsonPath, `is an invalid path: ${error.message}`)];
  }
}

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
