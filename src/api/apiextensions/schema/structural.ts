/**
 * The structural part of a custom resource's schema: its fields and their types. Pruning, defaults, list types,
 * embedded objects, server-side apply and rules work from it; limits on values stay with the JSON schema that each node
 * came from.
 *
 * 1. A schema is structural if this part alone says what every field is; allOf, anyOf, oneOf and not may only narrow
 *    it.
 * 2. Bounded: schemas nested deeper than `maxDepth` are refused, since everything here recurses along them.
 */
import { isObject, type Json } from "../../machinery/json/json.ts";
import type { JSONSchemaProps, ValidationRule } from "../../types/apiextensions-v1.ts";

/** Far beyond real schemas, far below what would overflow the stack. */
export const maxDepth = 500;

export interface Structural {
  readonly source: JSONSchemaProps;
  /** "" where there is none. */
  readonly type: string;
  readonly properties: ReadonlyMap<string, Structural>;
  /** `true` for values without a schema. */
  readonly additional: Structural | boolean | undefined;
  readonly items: Structural | undefined;
  readonly nullable: boolean;
  /** Null counts as no default. */
  readonly default: Json | undefined;
  readonly preserveUnknown: boolean;
  readonly embedded: boolean;
  readonly intOrString: boolean;
  readonly listType: string | undefined;
  readonly listKeys: readonly string[];
  readonly mapType: string | undefined;
  readonly rules: readonly ValidationRule[];
}

/** A JSON schema without a structural part. */
export class NotStructuralError extends Error {
  override readonly name = "NotStructuralError";
}

/** Throws a NotStructuralError. */
export function structuralOf(schema: JSONSchemaProps): Structural {
  return convert(schema, 0);
}

function convert(schema: JSONSchemaProps, depth: number): Structural {
  refuseUnsupported(schema, depth);
  for (const nested of nestedIn(schema)) checkNested(nested, depth + 1);
  const { items, additionalProperties } = schema;
  if (Array.isArray(items)) throw arrayOfItems();
  const additional = isObject(additionalProperties)
    ? convert(additionalProperties as JSONSchemaProps, depth + 1)
    : (additionalProperties as boolean | null | undefined);
  return {
    source: schema,
    type: schema.type ?? "",
    properties: new Map(
      Object.entries(schema.properties ?? {}).map(([name, property]) => [name, convert(property, depth + 1)]),
    ),
    additional: additional ?? undefined,
    items: isObject(items) ? convert(items as JSONSchemaProps, depth + 1) : undefined,
    nullable: schema.nullable === true,
    default: schema.default ?? undefined,
    preserveUnknown: schema["x-kubernetes-preserve-unknown-fields"] === true,
    embedded: schema["x-kubernetes-embedded-resource"] === true,
    intOrString: schema["x-kubernetes-int-or-string"] === true,
    listType: schema["x-kubernetes-list-type"],
    listKeys: schema["x-kubernetes-list-map-keys"] ?? [],
    mapType: schema["x-kubernetes-map-type"],
    rules: schema["x-kubernetes-validations"] ?? [],
  };
}

/** The schemas in allOf, anyOf, oneOf and not, one level deep. */
export function nestedIn({ allOf, anyOf, oneOf, not }: JSONSchemaProps): readonly JSONSchemaProps[] {
  if (allOf === undefined && anyOf === undefined && oneOf === undefined && not === undefined) return [];
  return [...(allOf ?? []), ...(anyOf ?? []), ...(oneOf ?? []), ...(not === undefined ? [] : [not])];
}

function checkNested(schema: JSONSchemaProps, depth: number): void {
  refuseUnsupported(schema, depth);
  if (Array.isArray(schema.items)) throw arrayOfItems();
  const { items, additionalProperties } = schema;
  const below = [...nestedIn(schema), ...Object.values(schema.properties ?? {})];
  if (isObject(items)) below.push(items as JSONSchemaProps);
  if (isObject(additionalProperties)) below.push(additionalProperties as JSONSchemaProps);
  for (const inner of below) checkNested(inner, depth + 1);
}

function arrayOfItems(): NotStructuralError {
  return new NotStructuralError("OpenAPIV3Schema 'items' must be a schema, but is an array");
}

function refuseUnsupported(schema: JSONSchemaProps, depth: number): void {
  if (depth > maxDepth) throw new NotStructuralError(`OpenAPIV3Schema is nested deeper than ${maxDepth} levels`);
  const unsupported = unsupportedField(schema);
  if (unsupported !== undefined) throw new NotStructuralError(`OpenAPIV3Schema '${unsupported}' is not supported`);
  if (schema["x-kubernetes-preserve-unknown-fields"] === false)
    throw new NotStructuralError("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined");
}

function unsupportedField(schema: JSONSchemaProps): string | undefined {
  if (schema.id) return "id";
  if (schema.$schema) return "schema";
  if (schema.$ref) return "$ref";
  if (hasKeys(schema.patternProperties)) return "patternProperties";
  if (hasKeys(schema.dependencies)) return "dependencies";
  if (schema.additionalItems !== undefined && schema.additionalItems !== null) return "additionalItems";
  return hasKeys(schema.definitions) ? "definitions" : undefined;
}

function hasKeys(map: object | undefined): boolean {
  return map !== undefined && Object.keys(map).length > 0;
}
