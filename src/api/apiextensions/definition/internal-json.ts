/**
 * Parts of a definition as messages print them: in Kubernetes' internal Go types, with Go's field names, every field
 * written.
 */
import { isObject, type Json, type JsonObject } from "../../machinery/json/json.ts";
import type { CustomResourceDefinitionVersion, JSONSchemaProps, ValidationRule } from "../../types/apiextensions-v1.ts";

type Show = (value: Json) => Json;

interface Field {
  readonly name: string;
  readonly json: string;
  readonly zero: Json;
  readonly show: Show;
}

const asIs: Show = (value) => value;
const field = (name: string, json: string, zero: Json = null, show: Show = asIs): Field => ({ name, json, zero, show });
const listOf =
  (show: (value: Json) => Json): Show =>
  (value) =>
    Array.isArray(value) ? value.map(show) : value;
const mapOf =
  (show: (value: Json) => Json): Show =>
  (value) => {
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.keys(value)
        .sort()
        .map((key) => [key, show(value[key] as Json)]),
    );
  };

function struct(fields: () => readonly Field[]): Show {
  return (value) => {
    if (!isObject(value)) return value;
    return Object.fromEntries(
      fields().map(({ name, json, zero, show }) => [
        name,
        value[json] === undefined ? zero : show(value[json] ?? null),
      ]),
    );
  };
}

const showRule = struct(() => [
  field("Rule", "rule", ""),
  field("Message", "message", ""),
  field("MessageExpression", "messageExpression", ""),
  field("Reason", "reason"),
  field("FieldPath", "fieldPath", ""),
  field("OptionalOldSelf", "optionalOldSelf"),
]);

const showSchema: Show = struct(() => schemaFields);
const orArray: Show = (value) => ({
  Schema: isObject(value) ? showSchema(value) : null,
  JSONSchemas: Array.isArray(value) ? value.map(showSchema) : null,
});
const orBool: Show = (value) => ({ Allows: value !== false, Schema: isObject(value) ? showSchema(value) : null });
const orStrings: Show = (value) => ({
  Schema: isObject(value) ? showSchema(value) : null,
  Property: Array.isArray(value) ? value : null,
});

/** In the order of the Go struct, which is also the order in which fields of a root are checked. */
export const schemaFields: readonly Field[] = [
  field("ID", "id", ""),
  field("Schema", "$schema", ""),
  field("Ref", "$ref"),
  field("Description", "description", ""),
  field("Type", "type", ""),
  field("Nullable", "nullable", false),
  field("Format", "format", ""),
  field("Title", "title", ""),
  field("Default", "default"),
  field("Maximum", "maximum"),
  field("ExclusiveMaximum", "exclusiveMaximum", false),
  field("Minimum", "minimum"),
  field("ExclusiveMinimum", "exclusiveMinimum", false),
  field("MaxLength", "maxLength"),
  field("MinLength", "minLength"),
  field("Pattern", "pattern", ""),
  field("MaxItems", "maxItems"),
  field("MinItems", "minItems"),
  field("UniqueItems", "uniqueItems", false),
  field("MultipleOf", "multipleOf"),
  field("Enum", "enum"),
  field("MaxProperties", "maxProperties"),
  field("MinProperties", "minProperties"),
  field("Required", "required"),
  field("Items", "items", null, orArray),
  field("AllOf", "allOf", null, listOf(showSchema)),
  field("OneOf", "oneOf", null, listOf(showSchema)),
  field("AnyOf", "anyOf", null, listOf(showSchema)),
  field("Not", "not", null, showSchema),
  field("Properties", "properties", null, mapOf(showSchema)),
  field("AdditionalProperties", "additionalProperties", null, orBool),
  field("PatternProperties", "patternProperties", null, mapOf(showSchema)),
  field("Dependencies", "dependencies", null, mapOf(orStrings)),
  field("AdditionalItems", "additionalItems", null, orBool),
  field("Definitions", "definitions", null, mapOf(showSchema)),
  field(
    "ExternalDocs",
    "externalDocs",
    null,
    struct(() => [field("Description", "description", ""), field("URL", "url", "")]),
  ),
  field("Example", "example"),
  field("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields"),
  field("XEmbeddedResource", "x-kubernetes-embedded-resource", false),
  field("XIntOrString", "x-kubernetes-int-or-string", false),
  field("XListMapKeys", "x-kubernetes-list-map-keys"),
  field("XListType", "x-kubernetes-list-type"),
  field("XMapType", "x-kubernetes-map-type"),
  field("XValidations", "x-kubernetes-validations", null, listOf(showRule)),
];

const showVersion = struct(() => [
  field("Name", "name", ""),
  field("Served", "served", false),
  field("Storage", "storage", false),
  field("Deprecated", "deprecated", false),
  field("DeprecationWarning", "deprecationWarning"),
  field(
    "Schema",
    "schema",
    null,
    struct(() => [field("OpenAPIV3Schema", "openAPIV3Schema", null, showSchema)]),
  ),
  field(
    "Subresources",
    "subresources",
    null,
    struct(() => [field("Status", "status"), field("Scale", "scale", null, showScale)]),
  ),
  field("AdditionalPrinterColumns", "additionalPrinterColumns", null, listOf(showColumn)),
  field("SelectableFields", "selectableFields", null, listOf(showSelectable)),
]);
const showScale = struct(() => [
  field("SpecReplicasPath", "specReplicasPath", ""),
  field("StatusReplicasPath", "statusReplicasPath", ""),
  field("LabelSelectorPath", "labelSelectorPath"),
]);
const showColumn = struct(() => [
  field("Name", "name", ""),
  field("Type", "type", ""),
  field("Format", "format", ""),
  field("Description", "description", ""),
  field("Priority", "priority", 0),
  field("JSONPath", "jsonPath", ""),
]);
const showSelectable = struct(() => [field("JSONPath", "jsonPath", "")]);

export function shownSchema(schema: JSONSchemaProps): Json {
  return showSchema(schema as unknown as JsonObject);
}

export function shownRule(rule: ValidationRule): Json {
  return showRule(rule as unknown as JsonObject);
}

export function shownVersions(versions: readonly CustomResourceDefinitionVersion[] | undefined): Json {
  return versions === undefined ? null : versions.map((version) => showVersion(version as unknown as JsonObject));
}
