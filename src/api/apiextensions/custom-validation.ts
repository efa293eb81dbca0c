/**
 * Validation of a custom object: limits on values, scale, embedded objects, list types, then rules.
 *
 * 1. An update does not report faults of unchanged values (ratcheting).
 * 2. Rules do not run on an object of the wrong shape; an error says so.
 */
import { at, type FieldError, type FieldErrorType } from "../machinery/errors/field-error.ts";
import type { Json, JsonObject } from "../machinery/json/json.ts";
import { getKey } from "../machinery/json/own-key.ts";
import type { KubeObject } from "../machinery/schema/object.ts";
import type { CustomResourceSubresourceScale } from "../types/apiextensions-v1.ts";
import { compileObjectRules } from "./rules/object-rules.ts";
import { RuleRun } from "./rules/run-rules.ts";
import { scaleSpecFaults, scaleStatusFaults } from "./scale.ts";
import { Correlation } from "./schema/correlation.ts";
import type { Structural } from "./schema/structural.ts";
import { compileFaults } from "./values/compile.ts";
import { compileEmbedded } from "./values/embedded.ts";
import { compileListTypes, type Walk } from "./values/list-types.ts";

export interface CustomValidation {
  /** Faults of unchanged values that the last validation of the object ignored. */
  warnings(object: KubeObject): readonly string[];
  create(object: KubeObject): readonly FieldError[];
  update(object: KubeObject, old: KubeObject): readonly FieldError[];
  status(object: KubeObject, old: KubeObject): readonly FieldError[];
}

const ROOT = at();
const STATUS = at("status");

export function compileValidation(
  root: Structural,
  scale: CustomResourceSubresourceScale | undefined,
): CustomValidation {
  const values = compileFaults(root.source);
  const statusSchema = root.source.properties?.status;
  const statusValues = statusSchema === undefined ? undefined : compileFaults(statusSchema);
  const embedded = compileEmbedded(root);
  const listTypes = compileListTypes(root);
  const rules = compileObjectRules(root, true);
  const ratcheted = new WeakMap<KubeObject, readonly string[]>();
  const withRules = (
    errors: readonly FieldError[],
    object: KubeObject,
    old: KubeObject | undefined,
    correlation: Correlation | undefined,
  ): readonly FieldError[] => {
    if (rules === undefined) return errors;
    if (errors.some(({ type }) => blocking.has(type))) return [...errors, notChecked];
    const run = new RuleRun();
    rules(jsonOf(object), old && jsonOf(old), ROOT, { own: correlation }, run);
    if (run.warnings.length > 0) ratcheted.set(object, run.warnings);
    return run.errors.length === 0 ? errors : [...errors, ...run.errors];
  };
  const scaled = (object: JsonObject, spec: boolean): readonly FieldError[] => {
    if (scale === undefined) return [];
    return [...(spec ? scaleSpecFaults(scale, object) : []), ...scaleStatusFaults(scale, object)];
  };
  /** Lists that violated their type before may continue to. */
  const newListFaults = (object: JsonObject, old: JsonObject): readonly FieldError[] => {
    const errors = found(listTypes, object);
    return errors.length > 0 && found(listTypes, old).length > 0 ? [] : errors;
  };
  return {
    warnings: (object) => ratcheted.get(object) ?? [],
    create: (created) => {
      const object = jsonOf(created);
      const errors = [
        ...values(object, ROOT, undefined),
        ...scaled(object, true),
        ...found(embedded, object),
        ...found(listTypes, object),
      ];
      return withRules(errors, created, undefined, undefined);
    },
    update: (updated, before) => {
      const [object, old] = [jsonOf(updated), jsonOf(before)];
      const correlation = new Correlation(root, object, old);
      const errors = [
        ...values(object, ROOT, correlation),
        ...scaled(object, true),
        ...found(embedded, object),
        ...newListFaults(object, old),
      ];
      return withRules(errors, updated, before, correlation);
    },
    status: (updated, before) => {
      const [object, old] = [jsonOf(updated), jsonOf(before)];
      const status = getKey(object, "status");
      const correlation = new Correlation(root, object, old);
      const errors = [
        ...(status === undefined ? [] : (statusValues?.(status, STATUS, correlation.field("status")) ?? [])),
        ...scaled(object, false),
        ...newListFaults(object, old),
      ];
      return withRules(errors, updated, before, correlation);
    },
  };
}

function found(walk: Walk | undefined, value: Json): readonly FieldError[] {
  if (walk === undefined) return [];
  const errors: FieldError[] = [];
  walk(value, ROOT, errors);
  return errors;
}

function jsonOf(object: KubeObject): JsonObject {
  return object as unknown as JsonObject;
}

/** Faults that prevent rules from running. */
const blocking: ReadonlySet<FieldErrorType> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

const notChecked: FieldError = {
  type: "FieldValueInvalid",
  field: "<nil>",
  badValue: null,
  detail:
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
};
