/** A structural schema as the machinery's own schema, for server-side apply and field selectors. */
import type { FieldSchema, ObjectSchema, OpenForm, Schema } from "../../machinery/schema/schema.ts";
import { objectMetaSchema } from "./metadata.ts";
import type { Structural } from "./structural.ts";

const text: Schema = { type: "string" };

export function objectSchemaOf(root: Structural, form: OpenForm): ObjectSchema {
  return { type: "object", fields: fieldsOf(root, true), ...extensionsOf(root), form };
}

function extensionsOf({ preserveUnknown, mapType }: Structural): Partial<ObjectSchema> {
  return { ...(preserveUnknown && { preserveUnknown: true }), ...(mapType === "atomic" && { atomic: true }) };
}

function schemaOf(node: Structural): Schema {
  if (node.intOrString) return { type: "intOrString" };
  switch (node.type) {
    case "string":
      return text;
    case "boolean":
      return { type: "boolean" };
    case "integer":
      return { type: "int64" };
    case "number":
      return { type: "double" };
    case "array":
      return listOf(node);
    case "object":
      return mapOf(node);
    default:
      return node.properties.size > 0 ? mapOf(node) : { type: "any" };
  }
}

function listOf({ items, listType, listKeys }: Structural): Schema {
  return {
    type: "list",
    items: items === undefined ? { type: "any" } : schemaOf(items),
    listType: listType === "set" || listType === "map" ? listType : "atomic",
    keys: listKeys,
    ...(listType === undefined && { implicit: true }),
  };
}

function mapOf(node: Structural): Schema {
  const { additional, properties, preserveUnknown, embedded, mapType } = node;
  if (properties.size === 0 && !embedded) {
    if (additional !== undefined && additional !== false) {
      const values: Schema = additional === true ? { type: "any" } : schemaOf(additional);
      return { type: "map", values, ...(mapType === "atomic" && { atomic: true }) };
    }
    if (preserveUnknown && mapType !== "atomic") return { type: "any" };
  }
  return { type: "object", fields: fieldsOf(node, embedded), ...extensionsOf(node) };
}

function fieldsOf({ properties, source }: Structural, isResource: boolean): ReadonlyMap<string, FieldSchema> {
  const fields = new Map<string, FieldSchema>();
  if (isResource)
    for (const [name, schema] of [
      ["apiVersion", text],
      ["kind", text],
      ["metadata", objectMetaSchema()],
    ] as const)
      fields.set(name, fieldOf(name, schema, undefined));
  for (const [name, property] of properties) {
    if (isResource && fields.has(name)) continue;
    const required = source.required?.includes(name) === true;
    fields.set(name, { ...fieldOf(name, schemaOf(property), property), required });
  }
  return fields;
}

/** A pointer, since absent differs from zero; protobuf does not carry it. */
function fieldOf(name: string, schema: Schema, node: Structural | undefined): FieldSchema {
  return {
    name,
    number: 0,
    schema,
    required: false,
    pointer: true,
    omit: "empty",
    default: node?.default,
    nullable: node?.nullable === true,
  };
}
