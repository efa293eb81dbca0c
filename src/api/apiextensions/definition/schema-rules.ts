/** Validation of the schema of one version, or of the schema that all versions share. */
import { type FieldError, type FieldPath, forbidden, invalid } from "../../machinery/errors/field-error.ts";
import type { Json } from "../../machinery/json/json.ts";
import type { CustomResourceValidation, JSONSchemaProps } from "../../types/apiextensions-v1.ts";
import { type RuleScope, rootScope, totalCostLimit } from "../rules/rule-scope.ts";
import { NotStructuralError, type Structural, structuralOf } from "../schema/structural.ts";
import { structuralFaults } from "../schema/structural-rules.ts";
import { defaultFaults } from "./default-rules.ts";
import { schemaFields, shownSchema } from "./internal-json.ts";
import { openApiFaults } from "./open-api-rules.ts";
import type { Requirements } from "./requirements.ts";
import { budgetWords, defaultRuleFaults } from "./validation-rules.ts";

export interface SchemaContext {
  readonly requirements: Requirements;
  readonly requireStructural: boolean;
  readonly hasStatus: boolean;
  readonly anyCost: boolean;
}

/** `path` is that of the field that holds the schema. */
export function schemaFaults(
  validation: CustomResourceValidation | undefined,
  path: FieldPath,
  context: SchemaContext,
): readonly FieldError[] {
  const schema = validation?.openAPIV3Schema;
  if (schema === undefined) return [];
  const at = path.child("openAPIV3Schema");
  const errors: FieldError[] = [...(context.hasStatus ? rootFaults(schema, path) : [])];
  if (schema.nullable === true)
    errors.push(forbidden(path.child("openAPIV3Schema.nullable"), "nullable cannot be true at the root"));
  const structure = context.requireStructural ? structureOf(schema, at, context) : { errors: [] };
  errors.push(...structure.errors);
  errors.push(...openApiFaults(schema, at, context, structure.scope));
  // Most reasons why a schema has no structure have been reported in other words by now.
  if (errors.length === 0 && structure.unstructured !== undefined) errors.push(invalid(at, "", structure.unstructured));
  return [...errors, ...costFaults(structure.scope, at)];
}

interface Structure {
  readonly errors: readonly FieldError[];
  /** Why the schema has no structure. */
  readonly unstructured?: string;
  /** Only for schemas without faults: rules may be compiled. */
  readonly scope?: RuleScope;
}

function structureOf(schema: JSONSchemaProps, path: FieldPath, { requirements }: SchemaContext): Structure {
  let root: Structural;
  try {
    root = structuralOf(schema);
  } catch (error) {
    if (!(error instanceof NotStructuralError)) throw error;
    return { errors: [], unstructured: error.message };
  }
  const faults = structuralFaults(root, path);
  if (faults.length > 0) return { errors: faults };
  const defaults = defaultFaults(root, path, requirements.prunedDefaults, defaultRuleFaults());
  return defaults.length > 0 ? { errors: defaults } : { errors: [], scope: rootScope(root) };
}

/** What the root may have with a status subresource: anything else would be lost in the schema of the status. */
const allowedAtRoot = [
  "Description",
  "Type",
  "Format",
  "Title",
  "Maximum",
  "ExclusiveMaximum",
  "Minimum",
  "ExclusiveMinimum",
  "MaxLength",
  "MinLength",
  "Pattern",
  "MaxItems",
  "MinItems",
  "UniqueItems",
  "MultipleOf",
  "Required",
  "Items",
  "Properties",
  "ExternalDocs",
  "Example",
  "XPreserveUnknownFields",
  "XValidations",
];

function rootFaults(schema: JSONSchemaProps, path: FieldPath): readonly FieldError[] {
  for (const { name, json, zero } of schemaFields) {
    const value = (schema as Readonly<Record<string, Json | undefined>>)[json];
    if (value === undefined || value === null || value === zero) continue;
    if (name === "Type") {
      if (value === "object") continue;
      const words =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
      return [invalid(path.child("openAPIV3Schema.type"), value, words)];
    }
    if (allowedAtRoot.includes(name)) continue;
    const words = `only [${allowedAtRoot.join(" ")}] fields are allowed at the root of the schema if the status subresource is enabled`;
    return [invalid(path.child("openAPIV3Schema"), shownSchema(schema), words)];
  }
  return [];
}

function costFaults(scope: RuleScope | undefined, path: FieldPath): readonly FieldError[] {
  if (scope === undefined || scope.total.total <= totalCostLimit) return [];
  const { total, mostExpensive } = scope.total;
  const words = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
  const what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
  return [
    ...mostExpensive.map((expensive) => forbidden(expensive, words)),
    forbidden(path, budgetWords(what, total, totalCostLimit)),
  ];
}
