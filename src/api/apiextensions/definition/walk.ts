/** Every schema within a schema, wherever it stands. */
import { isObject } from "../../machinery/json/json.ts";
import type { JSONSchemaProps } from "../../types/apiextensions-v1.ts";
import { nestedIn } from "../schema/structural.ts";

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
