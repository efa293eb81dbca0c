/**
 * The types of a custom kind and of its list.
 *
 * 1. The schema of the definition, with the fields that every object has; so has each embedded object.
 * 2. In version 2 an object that keeps unknown fields has no fields at all: kubectl would refuse every other one.
 */
import { isObject, type Json, type JsonObject, type Kind } from "#api";
import type { Descriptions } from "./descriptions.ts";
import { customTypeName } from "./names.ts";
import { type OpenApiVersion, REF_PREFIX, type RenderedType } from "./type-schema.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const TYPE_META = "io.k8s.api.core.v1.ConfigMap";
const CONVENTIONS = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";
const ABOUT_METADATA: Readonly<Record<MetaType, string>> = {
  ObjectMeta: `Standard object's metadata. More info: ${CONVENTIONS}#metadata`,
  ListMeta: `Standard list metadata. More info: ${CONVENTIONS}#types-kinds`,
};

type MetaType = "ObjectMeta" | "ListMeta";

/** `definition`: the openAPIV3Schema of the version; without one, any object. */
export function renderCustomType(
  definition: JsonObject | undefined,
  version: OpenApiVersion,
  descriptions: Descriptions,
): RenderedType {
  if (definition === undefined || (version === "v2" && keepsUnknown(definition)))
    return { schema: { type: "object" }, refs: new Set() };
  const schema = embedded(version === "v2" ? asVersion2(definition) : definition, version);
  const fields = objectFields("ObjectMeta", version, descriptions);
  return {
    schema: { ...schema, properties: { ...propertiesOf(schema), ...fields } },
    refs: new Set([`${META}.ObjectMeta`]),
  };
}

export function renderCustomList(kind: Kind, version: OpenApiVersion, descriptions: Descriptions): RenderedType {
  const item = customTypeName(kind);
  const schema = {
    description: `${kind.listKind ?? `${kind.kind}List`} is a list of ${kind.kind}`,
    type: "object",
    required: ["items"],
    properties: {
      ...objectFields("ListMeta", version, descriptions),
      items: {
        description: `List of ${kind.names.plural}. More info: ${CONVENTIONS}`,
        type: "array",
        items: { $ref: REF_PREFIX[version] + item },
      },
    },
  };
  return { schema, refs: new Set([`${META}.ListMeta`, item]) };
}

function objectFields(metaType: MetaType, version: OpenApiVersion, descriptions: Descriptions): JsonObject {
  const described = (description: string | undefined) => (description === undefined ? {} : { description });
  return {
    apiVersion: { ...described(descriptions.type(TYPE_META, "apiVersion")), type: "string" },
    kind: { ...described(descriptions.type(TYPE_META, "kind")), type: "string" },
    metadata: metadata(metaType, version),
  };
}

function metadata(metaType: MetaType, version: OpenApiVersion): JsonObject {
  const $ref = `${REF_PREFIX[version]}${META}.${metaType}`;
  const description = ABOUT_METADATA[metaType];
  return version === "v2" ? { description, $ref } : { description, allOf: [{ $ref }] };
}

/** With the fields of embedded objects. */
function embedded(schema: JsonObject, version: OpenApiVersion): JsonObject {
  const whole = mapped(schema, (each) => embedded(each, version));
  if (schema["x-kubernetes-embedded-resource"] !== true || (version === "v2" && keepsUnknown(schema))) return whole;
  const { required = [] } = schema;
  return {
    ...whole,
    required: [...new Set([...(required as string[]), "kind", "apiVersion"])],
    properties: {
      ...propertiesOf(whole),
      apiVersion: {
        description: `apiVersion defines the versioned schema of this representation of an object. More info: ${CONVENTIONS}#resources`,
        type: "string",
      },
      kind: {
        description: `kind is a string value representing the type of this object. In CamelCase. More info: ${CONVENTIONS}#types-kinds`,
        type: "string",
      },
      metadata: metadata("ObjectMeta", version),
    },
  };
}

/** Keywords that version 2 lacks. */
const NOT_IN_VERSION_2 = new Set(["nullable", "oneOf", "anyOf", "allOf", "not", "default", "x-kubernetes-validations"]);
const OF_VALUES_BELOW = new Set(["items", "properties"]);

/** A schema that depends on what version 2 lacks is widened to any value rather than stated wrongly. */
function asVersion2(schema: JsonObject): JsonObject {
  const open = schema.nullable === true || keepsUnknown(schema);
  const untyped =
    schema.nullable === true ||
    (schema.type === "array" && (open || schema.items === undefined)) ||
    (schema.type === "object" && keepsUnknown(schema));
  const kept = Object.entries(schema).filter(
    ([key]) => !NOT_IN_VERSION_2.has(key) && !(open && OF_VALUES_BELOW.has(key)) && !(untyped && key === "type"),
  );
  return mapped(withoutNullable(Object.fromEntries(kept)), asVersion2);
}

/** A field that may be null may be absent. */
function withoutNullable(schema: JsonObject): JsonObject {
  const { required, ...rest } = schema;
  if (!Array.isArray(required)) return schema;
  const fields = propertiesOf(schema);
  const isNullable = (name: Json) => {
    const found = fields[String(name)];
    return isObject(found) && found.nullable === true;
  };
  const left = required.filter((name) => !isNullable(name));
  return left.length === 0 ? rest : { ...rest, required: left };
}

/** With another schema for each field, item and value. */
function mapped(schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  const entries = Object.entries(schema).map(([key, value]): [string, Json] => {
    if ((key === "items" || key === "additionalProperties") && isObject(value)) return [key, change(value)];
    if (key !== "properties" || !isObject(value)) return [key, value];
    const fields = Object.entries(value).map(([name, each]) => [name, isObject(each) ? change(each) : each]);
    return [key, Object.fromEntries(fields) as JsonObject];
  });
  return Object.fromEntries(entries);
}

function propertiesOf({ properties }: JsonObject): JsonObject {
  return isObject(properties) ? properties : {};
}

function keepsUnknown(schema: JsonObject): boolean {
  return schema["x-kubernetes-preserve-unknown-fields"] === true;
}
