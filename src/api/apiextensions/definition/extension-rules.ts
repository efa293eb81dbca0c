/** Validation of Kubernetes' extensions of OpenAPI: list types, map types, preserved fields. */

import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from "../../machinery/errors/field-error.ts";
import { ownValue } from "../../machinery/json/own-key.ts";
import type { JSONSchemaProps } from "../../types/apiextensions-v1.ts";
import { shownSchema } from "./internal-json.ts";
import type { Requirements } from "./requirements.ts";
import { isKeyed, itemsOf, looseKeys, nonAtomicSet, nullableKeys } from "./schema-facts.ts";

const LIST_TYPE = "x-kubernetes-list-type";
const LIST_KEYS = "x-kubernetes-list-map-keys";
const MAP_TYPE = "x-kubernetes-map-type";

export function extensionFaults(
  schema: JSONSchemaProps,
  path: FieldPath,
  requirements: Requirements,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const preserve = "x-kubernetes-preserve-unknown-fields";
  if (schema[preserve] === false) errors.push(invalid(path.child(preserve), false, "must be true or undefined"));
  const mapType = schema[MAP_TYPE];
  if (mapType !== undefined) {
    errors.push(...typeFaults(schema, "object", MAP_TYPE, path));
    if (mapType !== "atomic" && mapType !== "granular")
      errors.push(notSupported(path.child(MAP_TYPE), mapType, ["atomic", "granular"]));
  }
  errors.push(...listFaults(schema, path, requirements));
  if (requirements.keyedLists && isKeyed(schema)) errors.push(...keyedFaults(schema, path));
  return errors;
}

function typeFaults(schema: JSONSchemaProps, type: string, extension: string, path: FieldPath): readonly FieldError[] {
  if (schema.type === type) return [];
  const words = `must be ${type} if ${extension} is specified`;
  return schema.type ? [invalid(path.child("type"), schema.type, words)] : [required(path.child("type"), words)];
}

function listFaults(schema: JSONSchemaProps, path: FieldPath, { atomicSets }: Requirements): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { [LIST_TYPE]: listType, [LIST_KEYS]: keys = [] } = schema;
  if (listType !== undefined) {
    const wrongType = typeFaults(schema, "array", LIST_TYPE, path);
    errors.push(...wrongType);
    const loose = wrongType.length === 0 && atomicSets ? nonAtomicSet(schema) : undefined;
    if (loose !== undefined) {
      const words = "must be atomic as item of a list with x-kubernetes-list-type=set";
      // Kubernetes reports the items' list type in both cases.
      errors.push(invalid(path.child("items").child(loose), itemsOf(schema)?.[LIST_TYPE] ?? null, words));
    }
    if (!["atomic", "set", "map"].includes(listType))
      errors.push(notSupported(path.child(LIST_TYPE), listType, ["atomic", "set", "map"]));
  }
  if (keys.length > 0 && listType !== "map") {
    const words = "must be map if x-kubernetes-list-map-keys is non-empty";
    const where = path.child(LIST_TYPE);
    errors.push(listType === undefined ? required(where, words) : invalid(where, listType, words));
  }
  return listType === "map" ? [...errors, ...mapListFaults(schema, keys, path)] : errors;
}

function mapListFaults(schema: JSONSchemaProps, keys: readonly string[], path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (keys.length === 0)
    errors.push(required(path.child(LIST_KEYS), "must not be empty if x-kubernetes-list-type is map"));
  const items = itemsOf(schema);
  if (schema.items === undefined)
    return [...errors, required(path.child("items"), "must have a schema if x-kubernetes-list-type is map")];
  if (items === undefined) {
    const shown = { Schema: null, JSONSchemas: (schema.items as unknown as JSONSchemaProps[]).map(shownSchema) };
    const words = "must only have a single schema if x-kubernetes-list-type is map";
    return [...errors, invalid(path.child("items"), shown, words)];
  }
  if (items.type !== "object") {
    const words = "must be object if parent array's x-kubernetes-list-type is map";
    return [...errors, invalid(path.child("items").child("type"), items.type ?? "", words)];
  }
  const seen = new Set<string>();
  for (const key of keys) {
    const property = ownValue(items.properties, key);
    const type = property?.type;
    if (property === undefined)
      errors.push(invalid(path.child(LIST_KEYS), keys, "entries must all be names of item properties"));
    else if (type === "array" || type === "object") {
      const where = path.child("items", "properties").key(key).child("type");
      errors.push(invalid(where, items.type, "must be a scalar type if parent array's x-kubernetes-list-type is map"));
    }
    if (seen.has(key)) errors.push(invalid(path.child(LIST_KEYS), keys, "must not contain duplicate entries"));
    seen.add(key);
  }
  return errors;
}

/** Items of sets and map lists are identified by their value or by their keys: neither may be missing or null. */
function keyedFaults(schema: JSONSchemaProps, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  const items = path.child("items");
  if (itemsOf(schema)?.nullable === true)
    errors.push(
      forbidden(items.child("nullable"), `cannot be nullable when x-kubernetes-list-type is ${schema[LIST_TYPE]}`),
    );
  const [loose, nullable] = [looseKeys(schema), nullableKeys(schema)];
  for (const key of schema[LIST_KEYS] ?? []) {
    const property = items.child("properties").key(key);
    const because = "this property is in x-kubernetes-list-map-keys, so it";
    if (loose.includes(key))
      errors.push(required(property.child("default"), `${because} must have a default or be a required property`));
    if (nullable.includes(key)) errors.push(forbidden(property.child("nullable"), `${because} cannot be nullable`));
  }
  return errors;
}
