/** The rules of structural schemas. Faults are sorted by their texts, as in Kubernetes. */

import {
  type FieldError,
  type FieldPath,
  fieldErrorText,
  forbidden,
  invalid,
  required,
} from "../../machinery/errors/field-error.ts";
import { equalJson } from "../../machinery/json/equal.ts";
import { isObject, type Json } from "../../machinery/json/json.ts";
import type { JSONSchemaProps } from "../../types/apiextensions-v1.ts";
import { compilePattern } from "./pattern.ts";
import type { Structural } from "./structural.ts";

type Level = "root" | "item" | "field";

const intOrString: Json = [{ type: "integer" }, { type: "string" }];

export function structuralFaults(schema: Structural, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = [];
  checkNode(schema, "root", path, errors);
  checkComplete(schema.source, schema, path, path, errors);
  if (errors.length < 2) return errors;
  const texts = new Map(errors.map((error) => [error, fieldErrorText(error)]));
  return errors.sort((a, b) => compareTexts(texts.get(a) ?? "", texts.get(b) ?? ""));
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function checkNode(schema: Structural, level: Level, path: FieldPath, errors: FieldError[]): void {
  const { type, items, additional, properties, embedded, source } = schema;
  if (type === "array" && items === undefined) errors.push(required(path.child("items"), "must be specified"));
  if (items !== undefined) checkNode(items, "item", path.child("items"), errors);
  for (const [name, property] of properties) checkNode(property, "field", path.child("properties").key(name), errors);
  if (additional !== undefined) {
    if (level === "root") errors.push(forbidden(path.child("additionalProperties"), "must not be used at the root"));
    if (typeof additional === "object") checkNode(additional, "field", path.child("additionalProperties"), errors);
  }
  checkExtensions(schema, path, errors);
  checkValues(source, equalJson(asJson(source.anyOf), intOrString), startsWithIntOrString(source), path, errors);
  checkType(schema, level, path, errors);
  if (embedded && additional !== undefined) {
    const words = "must not be used if x-kubernetes-embedded-resource is set";
    errors.push(forbidden(path.child("additionalProperties"), words));
  }
  if (level === "root" && type !== "" && type !== "object")
    errors.push(invalid(path.child("type"), type, "must be object at the root"));
  checkMeta(schema, level, path, errors);
  if (embedded && !schema.preserveUnknown && properties.size === 0) {
    const words =
      "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
    errors.push(required(path.child("properties"), words));
  }
}

function checkExtensions(schema: Structural, path: FieldPath, errors: FieldError[]): void {
  if (!schema.intOrString) return;
  const words = "must be false if x-kubernetes-int-or-string is true";
  if (schema.preserveUnknown) errors.push(invalid(path.child("x-kubernetes-preserve-unknown-fields"), true, words));
  if (schema.embedded) errors.push(invalid(path.child("x-kubernetes-embedded-resource"), true, words));
}

const untyped: Readonly<Record<Level, string>> = {
  root: "must not be empty at the root",
  item: "must not be empty for specified array items",
  field: "must not be empty for specified object fields",
};

function checkType(schema: Structural, level: Level, path: FieldPath, errors: FieldError[]): void {
  const { type, embedded, intOrString: either, preserveUnknown } = schema;
  const where = path.child("type");
  if (embedded && type !== "object") {
    const words = "must be object if x-kubernetes-embedded-resource is true";
    errors.push(type === "" ? required(where, words) : invalid(where, type, words));
  } else if (type === "" && !either && !preserveUnknown) {
    errors.push(required(where, untyped[level]));
  }
}

/** A definition must not restrict apiVersion, kind and metadata. */
function checkMeta({ properties, embedded }: Structural, level: Level, path: FieldPath, errors: FieldError[]): void {
  const isObjectItself = level === "root" || embedded;
  const at = (name: string) => path.child("properties").key(name);
  for (const name of ["kind", "apiVersion"]) {
    const type = properties.get(name)?.type;
    if (isObjectItself && type !== undefined && type !== "string")
      errors.push(invalid(at(name).child("type"), type, "must be string"));
  }
  const metadata = properties.get("metadata");
  if (metadata === undefined) return;
  if (isObjectItself && metadata.type !== "object")
    errors.push(invalid(at("metadata").child("type"), metadata.type, "must be object"));
  if (level === "root" && !namesOnly(metadata.source)) {
    const words = "must not specify anything other than name and generateName, but metadata is implicitly specified";
    errors.push(forbidden(at("metadata"), words));
  }
}

function namesOnly({ type: _, default: __, properties = {}, ...rest }: JSONSchemaProps): boolean {
  if (!Object.keys(properties).every((name) => name === "name" || name === "generateName")) return false;
  return Object.values(rest).every((value) => value === undefined || value === false || value === "");
}

/** An int-or-string may be spelled out with anyOf, at one of two places. */
function startsWithIntOrString({ allOf }: JSONSchemaProps): boolean {
  return equalJson(asJson(allOf?.[0]?.anyOf), intOrString);
}

function asJson(value: readonly JSONSchemaProps[] | undefined): Json {
  return (value ?? null) as unknown as Json;
}

function checkValues(
  schema: JSONSchemaProps,
  skipAnyOf: boolean,
  skipFirstAllOf: boolean,
  path: FieldPath,
  errors: FieldError[],
): void {
  const { anyOf = [], allOf = [], oneOf = [], not, pattern } = schema;
  const each = (list: readonly JSONSchemaProps[], name: string, skipFirst: boolean): void => {
    for (const [i, inner] of list.entries())
      checkNarrowing(inner, skipFirst && i === 0, path.child(name).index(i), errors);
  };
  if (!skipAnyOf) each(anyOf, "anyOf", false);
  each(allOf, "allOf", skipFirstAllOf);
  each(oneOf, "oneOf", false);
  if (not !== undefined) checkNarrowing(not, false, path.child("not"), errors);
  const fault = pattern ? compilePattern(pattern).fault : undefined;
  if (fault !== undefined)
    errors.push(
      invalid(path.child("pattern"), pattern ?? "", `must be a valid regular expression, but isn't: ${fault}`),
    );
}

/** What must not stand inside allOf, anyOf, oneOf and not. */
const spineOnly: readonly (readonly [keyof JSONSchemaProps, string])[] = [
  ["default", "must be undefined to be structural"],
  ["title", "must be empty to be structural"],
  ["description", "must be empty to be structural"],
  ["nullable", "must be false to be structural"],
  ["x-kubernetes-preserve-unknown-fields", "must be false to be structural"],
  ["x-kubernetes-embedded-resource", "must be false to be structural"],
  ["x-kubernetes-int-or-string", "must be false to be structural"],
  ["x-kubernetes-list-map-keys", "must be empty to be structural"],
  ["x-kubernetes-list-type", "must be undefined to be structural"],
  ["x-kubernetes-map-type", "must be undefined to be structural"],
  ["x-kubernetes-validations", "must be empty to be structural"],
];

function checkNarrowing(schema: JSONSchemaProps, skipAnyOf: boolean, path: FieldPath, errors: FieldError[]): void {
  checkValues(schema, skipAnyOf, false, path, errors);
  const { items, properties = {}, additionalProperties } = schema;
  if (isObject(items)) checkNarrowing(items as JSONSchemaProps, false, path.child("items"), errors);
  for (const [name, property] of Object.entries(properties))
    checkNarrowing(property, false, path.child("properties").key(name), errors);
  if (schema.type) errors.push(forbidden(path.child("type"), "must be empty to be structural"));
  if (additionalProperties !== undefined && additionalProperties !== null && additionalProperties !== false)
    errors.push(forbidden(path.child("additionalProperties"), "must be undefined to be structural"));
  for (const [name, words] of spineOnly) if (isSaid(schema, name)) errors.push(forbidden(path.child(name), words));
  if (Object.hasOwn(properties, "metadata"))
    errors.push(forbidden(path.child("properties").key("metadata"), "must not be specified in a nested context"));
}

function isSaid(schema: JSONSchemaProps, name: keyof JSONSchemaProps): boolean {
  const value = schema[name];
  if (name === "default") return value !== undefined && value !== null;
  if (name === "x-kubernetes-list-type" || name === "x-kubernetes-map-type") return value !== undefined;
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** A field that is constrained must be in the structural part. */
function checkComplete(
  narrowing: JSONSchemaProps,
  spine: Structural,
  at: FieldPath,
  from: FieldPath,
  errors: FieldError[],
): void {
  const { not, allOf = [], anyOf = [], oneOf = [] } = narrowing;
  if (not !== undefined) checkNarrowed(not, spine, at, from.child("not"), errors);
  const lists = { allOf, anyOf, oneOf };
  for (const [name, list] of Object.entries(lists))
    for (const [i, inner] of list.entries()) checkNarrowed(inner, spine, at, from.child(name).index(i), errors);
}

function checkNarrowed(
  narrowing: JSONSchemaProps,
  spine: Structural | undefined,
  at: FieldPath,
  from: FieldPath,
  errors: FieldError[],
): void {
  if (spine === undefined) {
    errors.push(required(at, `because it is defined in ${from}`));
    return;
  }
  checkComplete(narrowing, spine, at, from, errors);
  const { items, properties = {} } = narrowing;
  if (isObject(items))
    checkNarrowed(items as JSONSchemaProps, spine.items, at.child("items"), from.child("items"), errors);
  for (const [name, property] of Object.entries(properties)) {
    const step = (path: FieldPath) => path.child("properties").key(name);
    checkNarrowed(property, spine.properties.get(name), step(at), step(from), errors);
  }
}
