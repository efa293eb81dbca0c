/** Words to write the schemas of CustomResourceDefinitions with. */
import type { apiextensions, Json } from "#api";

export type Schema = apiextensions.JSONSchemaProps;
export type Rule = apiextensions.ValidationRule;
export type Column = apiextensions.CustomResourceColumnDefinition;
type More = Partial<Schema>;

export const text = (description: string, more: More = {}): Schema => ({ type: "string", description, ...more });
export const flag = (description: string): Schema => ({ type: "boolean", description });
export const int64 = (description: string, more: More = {}): Schema => ({
  type: "integer",
  format: "int64",
  description,
  ...more,
});
export const time = (description: string): Schema => text(description, { format: "date-time" });
export const list = (description: string, items: Schema, more: More = {}): Schema => ({
  type: "array",
  description,
  items: items as unknown as Json,
  ...more,
});
export const texts = (description: string): Schema => ({
  type: "object",
  description,
  additionalProperties: { type: "string" },
});

interface ObjectParts {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly rules?: readonly Rule[];
  /** Written as a whole. */
  readonly atomic?: boolean;
}

export function object(description: string, { properties, required, rules = [], atomic = false }: ObjectParts): Schema {
  return {
    type: "object",
    description,
    properties,
    ...(required !== undefined && { required }),
    ...(atomic && { "x-kubernetes-map-type": "atomic" }),
    ...(rules.length > 0 && { "x-kubernetes-validations": rules }),
  };
}

export function ruled(schema: Schema, ...rules: readonly Rule[]): Schema {
  return { ...schema, "x-kubernetes-validations": rules };
}

export const immutable = (field: string): Rule => ({ rule: "self == oldSelf", message: `${field} is immutable` });
export const immutableOnceSet = (words: string): Rule => ({
  rule: "self == oldSelf",
  message: `${words} immutable once set`,
});
export const keptOnceSet = (field: string): Rule => ({
  rule: `!has(oldSelf.${field}) || has(self.${field})`,
  message: `${field} is required once set`,
});
/** The order of the names is the order of the message. */
export const oneOf = (first: string, second: string): Rule => ({
  rule: `has(self.${first}) != has(self.${second})`,
  message: `exactly one of ${first} and ${second} must be set`,
});
export const notEmpty = (field: string): Rule => ({
  rule: "size(self) > 0",
  message: `${field} must not be the empty string when set`,
});

export const deletionPolicy: Schema = text(
  "Whether the snapshot of the storage system is deleted (Delete) or kept (Retain) with the object that it was made for.",
  { enum: ["Delete", "Retain"] },
);

export const error: Schema = object("The last failure. It is removed by the next success.", {
  properties: { message: text("What failed. It contains no secrets."), time: time("When it failed.") },
});

/** A reference to an object, with the fields that a core ObjectReference has. */
export function reference(description: string, ...rules: readonly Rule[]): Schema {
  const properties = {
    apiVersion: text("The API version of the object."),
    fieldPath: text("A part of the object."),
    kind: text("The kind of the object."),
    name: text("The name of the object."),
    namespace: text("The namespace of the object."),
    resourceVersion: text("The revision of the object."),
    uid: text("The uid of the object."),
  };
  return object(description, { properties, atomic: true, rules });
}

export const column = (name: string, type: string, jsonPath: string, description?: string): Column => ({
  name,
  type,
  jsonPath,
  ...(description !== undefined && { description }),
});
export const age: Column = column("Age", "date", ".metadata.creationTimestamp");
