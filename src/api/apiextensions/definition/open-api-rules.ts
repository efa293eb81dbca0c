/**
 * Validation of a schema, node by node: the supported part of OpenAPI, Kubernetes' extensions, rules.
 *
 * 1. Faults of rules come after all others.
 * 2. Rules are compiled only where the schema at their node and below has no faults: their types come from it.
 */
import { type FieldError, type FieldPath, forbidden, notSupported } from "../../machinery/errors/field-error.ts";
import { isObject } from "../../machinery/json/json.ts";
import type { JSONSchemaProps } from "../../types/apiextensions-v1.ts";
import { entryScope, fieldScope, itemScope, type RuleScope } from "../rules/rule-scope.ts";
import { extensionFaults } from "./extension-rules.ts";
import type { Requirements } from "./requirements.ts";
import { additionalOf, itemsOf, openApiTypes } from "./schema-facts.ts";
import { ruleFaults } from "./validation-rules.ts";

export interface OpenApiContext {
  readonly requirements: Requirements;
  /** The version's schema has not changed: the cost of single rules is not limited. */
  readonly anyCost: boolean;
}

interface Place {
  readonly isRoot: boolean;
  /** Why a default is forbidden here. */
  readonly noDefault?: string | undefined;
  /** Within apiVersion, kind or metadata of an object. */
  readonly insideMeta: boolean;
  /** The first node on the way here that cannot be correlated with an old object: rules must not use oldSelf. */
  readonly uncorrelated: FieldPath | undefined;
  readonly scope: RuleScope | undefined;
}

interface Found {
  readonly schema: FieldError[];
  readonly rules: FieldError[];
}

export function openApiFaults(
  root: JSONSchemaProps,
  path: FieldPath,
  context: OpenApiContext,
  scope: RuleScope | undefined,
): readonly FieldError[] {
  const found: Found = { schema: [], rules: [] };
  check(root, path, { isRoot: true, insideMeta: false, uncorrelated: undefined, scope }, context, found);
  return [...found.schema, ...found.rules];
}

const metaFields = new Set(["metadata", "kind", "apiVersion"]);

function check(schema: JSONSchemaProps, path: FieldPath, place: Place, context: OpenApiContext, found: Found): void {
  const known = found.schema.length;
  found.schema.push(...wordFaults(schema, path, place, context));
  checkParts(schema, path, place, context, found);
  found.schema.push(...extensionFaults(schema, path, context.requirements));
  const clean = (): boolean => found.schema.length === known;
  ruleFaults(schema, path, { ...context, scope: place.scope, uncorrelated: place.uncorrelated }, clean, found);
}

function wordFaults(
  schema: JSONSchemaProps,
  path: FieldPath,
  { noDefault, insideMeta }: Place,
  { requirements }: OpenApiContext,
): readonly FieldError[] {
  const { type = "" } = schema;
  const errors: FieldError[] = [];
  const refuse = (name: string, words = `${name} is not supported`) => errors.push(forbidden(path.child(name), words));
  if (requirements.knownTypes && type !== "" && !openApiTypes.includes(type))
    errors.push(notSupported(path.child("type"), type, openApiTypes));
  if (noDefault !== undefined && (schema.default ?? null) !== null) refuse("default", `must not be set ${noDefault}`);
  if (schema.id) refuse("id");
  if ((schema.additionalItems ?? null) !== null) refuse("additionalItems");
  if (hasKeys(schema.patternProperties)) refuse("patternProperties");
  if (hasKeys(schema.definitions)) refuse("definitions");
  if (schema.dependencies !== undefined) refuse("dependencies");
  if (schema.$ref !== undefined) refuse("$ref");
  if (type === "null") refuse("type", "type cannot be set to null, use nullable as an alternative");
  if (Array.isArray(schema.items) && schema.items.length > 0)
    refuse("items", "items must be a schema object and not an array");
  if (insideMeta && schema["x-kubernetes-embedded-resource"] === true)
    refuse("x-kubernetes-embedded-resource", "must not be used inside of resource meta");
  if (schema.uniqueItems === true)
    refuse("uniqueItems", "uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
  const { additionalProperties } = schema;
  if (hasKeys(schema.properties) && additionalProperties !== undefined && additionalProperties !== true)
    refuse("additionalProperties", "additionalProperties and properties are mutual exclusive");
  return errors;
}

function checkParts(
  schema: JSONSchemaProps,
  path: FieldPath,
  place: Place,
  context: OpenApiContext,
  found: Found,
): void {
  const { scope, isRoot } = place;
  const below: Place = { ...place, isRoot: false };
  const nested: Place = { ...below, scope: undefined };
  const additional = additionalOf(schema);
  if (additional !== undefined) {
    const inMeta = place.insideMeta && { noDefault: "inside additionalProperties applying to object metadata" };
    const inner = { ...below, ...inMeta, scope: entryScope(scope) };
    check(additional, path.child("additionalProperties"), inner, context, found);
  }
  const isResource = isRoot || schema["x-kubernetes-embedded-resource"] === true;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isMeta = isResource && metaFields.has(name);
    const inner: Place = {
      ...below,
      insideMeta: isMeta || below.insideMeta,
      noDefault: isMeta && isRoot ? `in top-level ${name}` : below.noDefault,
      uncorrelated: place.uncorrelated ?? (isCorrelatable(schema) ? undefined : path),
      scope: fieldScope(scope, name),
    };
    check(property, path.child("properties").key(name), inner, context, found);
  }
  if (schema.not !== undefined) check(schema.not, path.child("not"), nested, context, found);
  for (const name of ["allOf", "oneOf", "anyOf"] as const)
    for (const [i, inner] of (schema[name] ?? []).entries())
      check(inner, path.child(name).index(i), nested, context, found);
  for (const [name, inner] of Object.entries(schema.definitions ?? {}))
    check(inner, path.child("definitions").key(name), nested, context, found);
  checkItems(schema, path, below, context, found);
  for (const [name, inner] of Object.entries(schema.dependencies ?? {}))
    if (isObject(inner)) check(inner as JSONSchemaProps, path.child("dependencies").key(name), nested, context, found);
}

function checkItems(
  schema: JSONSchemaProps,
  path: FieldPath,
  place: Place,
  context: OpenApiContext,
  found: Found,
): void {
  const keyed = schema["x-kubernetes-list-type"] === "map";
  const uncorrelated = place.uncorrelated ?? (keyed ? undefined : path);
  const items = itemsOf(schema);
  if (items !== undefined) {
    const scope = itemScope(place.scope);
    check(items, path.child("items"), { ...place, uncorrelated, scope }, context, found);
  }
  if (!Array.isArray(schema.items)) return;
  for (const [i, item] of (schema.items as unknown as JSONSchemaProps[]).entries())
    check(item, path.child("items").index(i), { ...place, uncorrelated, scope: undefined }, context, found);
}

/** Fields of a map are correlated by name, whatever the map type. */
function isCorrelatable(schema: JSONSchemaProps): boolean {
  const type = schema["x-kubernetes-map-type"] ?? "granular";
  return type === "granular" || type === "atomic";
}

function hasKeys(map: object | undefined): boolean {
  return map !== undefined && Object.keys(map).length > 0;
}
