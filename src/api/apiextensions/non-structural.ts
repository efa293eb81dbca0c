/** Schemas of old that are not structural: what is told about them. */
import { aggregate, at, type FieldError, fieldErrorText, invalid } from "../machinery/errors/field-error.ts";
import type { CustomResourceDefinition, JSONSchemaProps } from "../types/apiextensions-v1.ts";
import type { ConditionFacts } from "./condition.ts";
import { NotStructuralError, structuralOf } from "./schema/structural.ts";
import { structuralFaults } from "./schema/structural-rules.ts";

/** Empty for a structural schema. */
export function nonStructuralViolations(
  schema: JSONSchemaProps,
  path = at("spec", "validation", "openAPIV3Schema"),
): readonly FieldError[] {
  try {
    return structuralFaults(structuralOf(schema), path);
  } catch (error) {
    if (error instanceof NotStructuralError) return [invalid(path, "", error.message)];
    throw error;
  }
}

/** The condition NonStructuralSchema; undefined if all is well. */
export function nonStructuralSchema({ spec }: CustomResourceDefinition): ConditionFacts | undefined {
  const errors: FieldError[] = [];
  if (spec.preserveUnknownFields === true)
    errors.push(invalid(at("spec", "preserveUnknownFields"), true, "must be false"));
  for (const [i, { name, schema }] of spec.versions.entries()) {
    if (schema?.openAPIV3Schema === undefined) continue;
    try {
      const path = at("spec", "versions").index(i).child("schema", "openAPIV3Schema");
      errors.push(...structuralFaults(structuralOf(schema.openAPIV3Schema), path));
    } catch (error) {
      if (!(error instanceof NotStructuralError)) throw error;
      const message = `failed to check validation schema for version ${name}: ${error.message}`;
      return { status: "Unknown", reason: "StructuralError", message };
    }
  }
  if (errors.length === 0) return undefined;
  return { status: "True", reason: "Violations", message: aggregate(errors.map(fieldErrorText)) };
}
