/** The schemas of custom kinds: what their definition says, with the fields that every object has. */
import { isObject, type Json, type JsonObject, type Kind } from "#api";
import type { Descriptions } from "./descriptions.ts";
import { customTypeName } from "./names.ts";
import { type OpenApiVersion, REF_PREFIX, type RenderedType } from "./type-schema.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const TYPE_META = "io.k8s.api.core.v1.ConfigMap";

/** `definition`: the openAPIV3Schema of the version; without one anything is accepted. */
export function renderCustomType(
  definition: JsonObject | undefined,
  version: OpenApiVersion,
  descriptions: Descriptions,
): RenderedType {
  const { properties, ...rest } = definition ?? { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const schema = {
    ...rest,
    properties: { ...(isObject(properties) ? properties : {}), ...objectFields("ObjectMeta", version, descriptions) },
  };
  return { schema: version === "v2" ? asVersion2(schema) : schema, refs: new Set([`${META}.ObjectMeta`]) };
}

export function renderCustomList(kind: Kind, version: OpenApiVersion, descriptions: Descriptions): RenderedType {
  const item = customTypeName(kind);
  const schema = {
    description: `${kind.listKind ?? `${kind.kind}List`} is a list of ${kind.kind}`,
    type: "object",
    required: ["items"],
    properties: {
      ...objectFields("ListMeta", version, descriptions),
      items: { type: "array", items: { $ref: REF_PREFIX[version] + item } },
    },
  };
  return { schema, refs: new Set([`${META}.ListMeta`, item]) };
}

function objectFields(metaType: string, version: OpenApiVersion, descriptions: Descriptions): JsonObject {
  const described = (description: string | undefined) => (description === undefined ? {} : { description });
  const $ref = `${REF_PREFIX[version]}${META}.${metaType}`;
  const about = described(descriptions.type(`${META}.${metaType}`));
  return {
    apiVersion: { ...described(descriptions.type(TYPE_META, "apiVersion")), type: "string" },
    kind: { ...described(descriptions.type(TYPE_META, "kind")), type: "string" },
    metadata: version === "v2" ? { ...about, $ref } : { ...about, allOf: [{ $ref }] },
  };
}

/** Version 2 has no words for these; what cannot be said exactly is left open rather than said wrongly. */
const NOT_IN_VERSION_2 = new Set(["nullable", "oneOf", "anyOf", "allOf", "not", "default", "x-kubernetes-validations"]);

function asVersion2(schema: JsonObject): JsonObject {
  if (schema["x-kubernetes-int-or-string"] === true || schema.nullable === true) return open(schema);
  const kept = Object.entries(schema).filter(([key]) => !NOT_IN_VERSION_2.has(key));
  return Object.fromEntries(kept.map(([key, value]) => [key, within(key, value)]));
}

function within(key: string, value: Json): Json {
  if (key === "properties" && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, schema]) => [name, isObject(schema) ? asVersion2(schema) : schema]),
    );
  }
  return (key === "items" || key === "additionalProperties") && isObject(value) ? asVersion2(value) : value;
}

/** Without a type: any value. */
function open(schema: JsonObject): JsonObject {
  const { description } = schema;
  const extensions = Object.entries(schema).filter(([key]) => key.startsWith("x-") && !NOT_IN_VERSION_2.has(key));
  return { ...(description === undefined ? {} : { description }), ...Object.fromEntries(extensions) };
}
