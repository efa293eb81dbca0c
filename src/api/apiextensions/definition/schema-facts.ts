/** Predicates on schemas that several checks use. */
import { isObject } from "../../machinery/json/json.ts";
import type { JSONSchemaProps } from "../../types/apiextensions-v1.ts";
import { nestedIn } from "../schema/structural.ts";

export const openApiTypes: readonly string[] = ["array", "boolean", "integer", "number", "object", "string"];

export function itemsOf({ items }: JSONSchemaProps): JSONSchemaProps | undefined {
  return items !== undefined && isObject(items) ? (items as JSONSchemaProps) : undefined;
}

export function additionalOf({ additionalProperties }: JSONSchemaProps): JSONSchemaProps | undefined {
  return additionalProperties !== undefined && isObject(additionalProperties)
    ? (additionalProperties as JSONSchemaProps)
    : undefined;
}

/** The extension that the items of a set lack: they must be atomic. */
export function nonAtomicSet(schema: JSONSchemaProps): "x-kubernetes-list-type" | "x-kubernetes-map-type" | undefined {
  const items = itemsOf(schema);
  if (schema["x-kubernetes-list-type"] !== "set" || items === undefined) return undefined;
  if (items.type === "array")
    return (items["x-kubernetes-list-type"] ?? "atomic") === "atomic" ? undefined : "x-kubernetes-list-type";
  return items.type === "object" && items["x-kubernetes-map-type"] !== "atomic" ? "x-kubernetes-map-type" : undefined;
}

export function isKeyed(schema: JSONSchemaProps): boolean {
  const type = schema["x-kubernetes-list-type"];
  return itemsOf(schema) !== undefined && (type === "set" || type === "map");
}

/** Keys that an item may lack. */
export function looseKeys(schema: JSONSchemaProps): readonly string[] {
  const { required = [], properties = {} } = itemsOf(schema) ?? {};
  return keysOf(schema).filter((key) => {
    const property = properties[key];
    return property !== undefined && !required.includes(key) && (property.default ?? null) === null;
  });
}

export function nullableKeys(schema: JSONSchemaProps): readonly string[] {
  const { properties = {} } = itemsOf(schema) ?? {};
  return keysOf(schema).filter((key) => properties[key]?.nullable === true);
}

function keysOf(schema: JSONSchemaProps): readonly string[] {
  return schema["x-kubernetes-list-type"] === "map" ? (schema["x-kubernetes-list-map-keys"] ?? []) : [];
}

/** A set or a map list whose items cannot always be distinguished. */
export function unkeyedList(schema: JSONSchemaProps): boolean {
  if (!isKeyed(schema)) return false;
  return itemsOf(schema)?.nullable === true || looseKeys(schema).length > 0 || nullableKeys(schema).length > 0;
}

export function* schemasWithin(root: JSONSchemaProps): Generator<JSONSchemaProps> {
  const open = [root];
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    yield schema;
    open.push(...partsOf(schema));
  }
}

export function someSchema(root: JSONSchemaProps, matches: (schema: JSONSchemaProps) => boolean): boolean {
  for (const schema of schemasWithin(root)) if (matches(schema)) return true;
  return false;
}

function partsOf(schema: JSONSchemaProps): readonly JSONSchemaProps[] {
  const { items, properties, additionalProperties, patternProperties, additionalItems, definitions, dependencies } =
    schema;
  const either = [items, additionalProperties, additionalItems, ...Object.values(dependencies ?? {})];
  return [
    ...nestedIn(schema),
    ...(Array.isArray(items) ? (items as unknown as JSONSchemaProps[]) : []),
    ...either.filter((part) => part !== undefined && isObject(part)).map((part) => part as JSONSchemaProps),
    ...Object.values(properties ?? {}),
    ...Object.values(patternProperties ?? {}),
    ...Object.values(definitions ?? {}),
  ];
}
