/**
 * A type of the API → its schema in OpenAPI, in either version.
 *
 * 1. Version 3 shows defaults, and the zero values that Go would write; version 2 shows none.
 * 2. Version 3 wraps a reference with further keywords in allOf; version 2 writes the keywords beside the reference.
 */
import { type FieldSchema, type Json, type JsonObject, type ObjectSchema, type Schema, typeSchema } from "#api";
import type { Descriptions } from "./descriptions.ts";
import { anyTypeName, EXTENSIONS, NAMED_FORMS, scalarTypeName } from "./type-names.ts";

export type OpenApiVersion = "v2" | "v3";

export const REF_PREFIX: Readonly<Record<OpenApiVersion, string>> = {
  v2: "#/definitions/",
  v3: "#/components/schemas/",
};

export interface RenderedType {
  /** Without x-kubernetes-group-version-kind. */
  readonly schema: JsonObject;
  /** The full names of the types that it refers to. */
  readonly refs: ReadonlySet<string>;
}

export function renderType(typeName: string, version: OpenApiVersion, descriptions: Descriptions): RenderedType {
  const form = NAMED_FORMS.get(typeName);
  const text = descriptions.type(typeName);
  const described = text === undefined ? {} : { description: text };
  if (form !== undefined) return { schema: { ...described, ...form[version] }, refs: new Set() };
  return new TypeRenderer(typeName, typeSchema(typeName), version, descriptions).render(described);
}

class TypeRenderer {
  readonly #typeName: string;
  readonly #type: ObjectSchema;
  readonly #version: OpenApiVersion;
  readonly #descriptions: Descriptions;
  readonly #refs = new Set<string>();

  constructor(typeName: string, type: ObjectSchema, version: OpenApiVersion, descriptions: Descriptions) {
    this.#typeName = typeName;
    this.#type = type;
    this.#version = version;
    this.#descriptions = descriptions;
  }

  render(described: JsonObject): RenderedType {
    const fields = [...this.#type.fields.values()];
    const required = fields.filter((field) => field.required).map((field) => field.name);
    const properties = fields
      .map((field) => [field.name, this.#field(field)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const schema = {
      ...described,
      type: "object",
      ...(required.length > 0 ? { required } : {}),
      ...(properties.length > 0 ? { properties: Object.fromEntries(properties) } : {}),
      ...(this.#type.atomic ? { "x-kubernetes-map-type": "atomic" } : {}),
      ...EXTENSIONS.get(this.#typeName),
    };
    return { schema, refs: this.#refs };
  }

  #field(field: FieldSchema): JsonObject {
    const description = this.#description(field);
    const value = this.#version === "v3" ? shownDefault(field) : undefined;
    const { patchMergeKey, patchStrategy } = field;
    return this.#wrapped({
      ...(description === undefined ? {} : { description }),
      ...withDefault(this.#form(field.schema, field.name), value),
      ...ownership(field.schema),
      ...(patchMergeKey === undefined ? {} : { "x-kubernetes-patch-merge-key": patchMergeKey }),
      ...(patchStrategy === undefined ? {} : { "x-kubernetes-patch-strategy": patchStrategy }),
      ...EXTENSIONS.get(`${this.#typeName}.${field.name}`),
    });
  }

  /** The client's documentation lacks fields that hold another type: those get that type's description. */
  #description({ name, schema }: FieldSchema): string | undefined {
    const own = this.#descriptions.type(this.#typeName, name);
    if (own !== undefined || schema.type !== "object" || schema.goType === undefined) return own;
    return this.#descriptions.type(schema.goType);
  }

  #form(schema: Schema, field: string): JsonObject {
    switch (schema.type) {
      case "object":
        return this.#ref(schema.goType ?? "");
      case "list":
        return { type: "array", items: this.#item(schema.items, field) };
      case "map":
        return { type: "object", additionalProperties: this.#item(schema.values, field) };
      case "any": {
        const name = anyTypeName(schema, this.#typeName, field);
        return name === undefined ? {} : this.#ref(name);
      }
      default: {
        const name = scalarTypeName(schema.type);
        if (name !== undefined) return this.#ref(name);
        return { ...scalarForm(schema.type), ...(schema.enum === undefined ? {} : { enum: schema.enum }) };
      }
    }
  }

  /** The item of a list, or the value of a map. */
  #item(schema: Schema, field: string): JsonObject {
    const form = this.#form(schema, field);
    const value = this.#version === "v3" ? zeroOf(schema) : undefined;
    return this.#wrapped(withDefault(form, value));
  }

  #ref(typeName: string): JsonObject {
    this.#refs.add(typeName);
    return { $ref: REF_PREFIX[this.#version] + typeName };
  }

  #wrapped(schema: JsonObject): JsonObject {
    const { $ref, ...beside } = schema;
    if (this.#version === "v2" || $ref === undefined || Object.keys(beside).length === 0) return schema;
    const { description, default: value, ...extensions } = beside;
    return {
      ...(description === undefined ? {} : { description }),
      ...(value === undefined ? {} : { default: value }),
      allOf: [{ $ref }],
      ...extensions,
    };
  }
}

/** Puts the default after the type and format, before the enum. */
function withDefault({ enum: values, ...form }: JsonObject, value: Json | undefined): JsonObject {
  return {
    ...form,
    ...(value === undefined ? {} : { default: value }),
    ...(values === undefined ? {} : { enum: values }),
  };
}

/** How server-side apply owns a field, in the words of OpenAPI. */
function ownership(schema: Schema): JsonObject {
  if (schema.type === "list" && !schema.implicit) {
    return {
      ...(schema.keys.length > 0 ? { "x-kubernetes-list-map-keys": schema.keys } : {}),
      "x-kubernetes-list-type": schema.listType,
    };
  }
  if (schema.type === "map" && schema.atomic) return { "x-kubernetes-map-type": "atomic" };
  if (schema.type === "object" && schema.goType !== undefined) {
    const atomic = schema.atomic === true;
    if (atomic !== (typeSchema(schema.goType).atomic === true)) {
      return { "x-kubernetes-map-type": atomic ? "atomic" : "granular" };
    }
  }
  return {};
}

function shownDefault({ schema, pointer, omit, default: value }: FieldSchema): Json | undefined {
  if (value !== undefined) return value;
  if (pointer) return undefined;
  return schema.type === "object" || omit === "never" ? zeroOf(schema) : undefined;
}

function zeroOf(schema: Schema): Json | undefined {
  switch (schema.type) {
    case "object":
      return {};
    case "string":
      return "";
    case "boolean":
      return false;
    case "int32":
    case "int64":
    case "double":
      return 0;
    default:
      return undefined;
  }
}

function scalarForm(type: string): JsonObject {
  switch (type) {
    case "int32":
    case "int64":
      return { type: "integer", format: type };
    case "double":
      return { type: "number", format: "double" };
    case "bytes":
      return { type: "string", format: "byte" };
    default:
      return { type };
  }
}
