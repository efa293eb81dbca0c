/** Short builders of definitions and their objects, for tests. */
import { type FieldError, fieldErrorText } from "../../machinery/errors/field-error.ts";
import type { Json, JsonObject } from "../../machinery/json/json.ts";
import { create, update, updateStatus } from "../../testing/pure-server.ts";
import type {
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
  CustomResourceDefinition as Definition,
  JSONSchemaProps,
} from "../../types/apiextensions-v1.ts";
import { type CustomKind, compileCustomKind } from "../custom-kind.ts";
import { CustomResourceDefinition } from "../custom-resource-definition.ts";

export function object(
  properties: Readonly<Record<string, JSONSchemaProps>>,
  more: JSONSchemaProps = {},
): JSONSchemaProps {
  return { type: "object", properties, ...more };
}

export function list(items: JSONSchemaProps, more: JSONSchemaProps = {}): JSONSchemaProps {
  return { type: "array", items: items as unknown as Json, ...more };
}

export function mapOf(values: JSONSchemaProps, more: JSONSchemaProps = {}): JSONSchemaProps {
  return { type: "object", additionalProperties: values as unknown as Json, ...more };
}

export function version(
  schema: JSONSchemaProps,
  more: Partial<CustomResourceDefinitionVersion> = {},
): CustomResourceDefinitionVersion {
  return { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...more };
}

export function definition(
  schema: JSONSchemaProps,
  more: Partial<CustomResourceDefinitionVersion> = {},
  spec: Partial<CustomResourceDefinitionSpec> = {},
): Definition {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [version(schema, more)],
      ...spec,
    },
  };
}

/** A kind whose objects have a spec of this schema. */
export function thing(spec: JSONSchemaProps, more: Partial<CustomResourceDefinitionVersion> = {}): CustomKind {
  return compileCustomKind(definition(object({ spec, status: preserving }), more), "v1");
}

export const preserving: JSONSchemaProps = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** The faults of the definition, as a server reports them. */
export function definitionFaults(body: Definition): readonly string[] {
  return texts(create(CustomResourceDefinition, body as unknown as JsonObject).errors);
}

export function definitionChangeFaults(before: Definition, after: Definition): readonly string[] {
  const old = create(CustomResourceDefinition, before as unknown as JsonObject).object as Definition;
  const conditions = [{ type: "Established", status: "True" }];
  const established = { ...old, status: { ...old.status, conditions } };
  return texts(update(CustomResourceDefinition, after as unknown as JsonObject, established).errors);
}

export function thingOf(spec: Json, more: JsonObject = {}): JsonObject {
  return { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a" }, spec, ...more };
}

export function created(kind: CustomKind, spec: Json, more: JsonObject = {}): JsonObject {
  return create(kind, thingOf(spec, more)).object as unknown as JsonObject;
}

export function createFaults(kind: CustomKind, spec: Json, more: JsonObject = {}): readonly string[] {
  return texts(create(kind, thingOf(spec, more)).errors);
}

/** The old object need not be valid: it may have been valid under an older definition. */
export function updateFaults(kind: CustomKind, before: Json, after: Json): readonly string[] {
  const old = create(kind, thingOf(before)).object;
  return texts(update(kind, thingOf(after), old).errors);
}

export function statusFaults(kind: CustomKind, spec: Json, before: Json, after: Json): readonly string[] {
  const old = { ...create(kind, thingOf(spec)).object, status: before };
  return texts(updateStatus(kind, thingOf(spec, { status: after }), old).errors);
}

function texts(errors: readonly FieldError[]): readonly string[] {
  return errors.map(fieldErrorText);
}
