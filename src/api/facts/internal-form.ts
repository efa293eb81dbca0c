/**
 * Values as messages of Kubernetes print whole structures: in its internal Go types, which have Go's field names and
 * write every field.
 *
 * 1. Types of meta/v1 have no internal form: they are printed as JSON. Where a struct embeds ObjectMeta, the fields of
 *    that stand among its own.
 * 2. The fields of a type are found once, when a message needs them first.
 * 3. A list or map that was sent empty is printed as such, not as nil. What is stored has none: see `stored`.
 */
import type { Json, JsonObject } from "../machinery/json/json.ts";
import { sentEmpty } from "../machinery/json/sent-empty.ts";
import { goFieldName } from "../machinery/schema/go-types.ts";
import { onceForEach } from "../machinery/schema/memo.ts";
import type { FieldSchema, ObjectSchema, Schema } from "../machinery/schema/schema.ts";
import { zeroValue } from "../machinery/schema/zero.ts";
import { internalFields } from "./internal-types.ts";

const META = "io.k8s.apimachinery.pkg.apis.meta.v1.";

interface Plan {
  readonly field: FieldSchema;
  readonly goName: string;
  readonly pointer: boolean;
  readonly moved: readonly Plan[];
}

/**
 * `value` is of the type that the schema describes; nothing is a nil pointer, list or map. `stored`: a value that was
 * stored, or one to compare with it.
 */
export function formOf(schema: Schema, value: Json | undefined, stored = false): Json {
  if (value === undefined || value === null) return null;
  switch (schema.type) {
    case "object":
      return structForm(schema, value as JsonObject, stored);
    case "list":
      return (value as readonly Json[]).map((item) => formOf(schema.items, item, stored));
    case "map":
      return Object.fromEntries(
        Object.keys(value as JsonObject)
          .sort()
          .map((key) => [key, formOf(schema.values, (value as JsonObject)[key], stored)]),
      );
    default:
      return value;
  }
}

/** Of one field of a struct: without a value, what Go has there. */
export function formOfField(schema: ObjectSchema, name: string, value: Json | undefined): Json {
  const plan = plansOf(schema).find(({ field }) => field.name === name);
  if (plan === undefined) throw new Error(`${schema.goType} has no field ${name}`);
  return fieldForm(plan, value === undefined ? {} : { [name]: value }, false);
}

function structForm(schema: ObjectSchema, value: JsonObject, stored: boolean): Json {
  if (schema.goType === undefined || schema.goType.startsWith(META)) return value;
  return fieldForms(plansOf(schema), value, stored);
}

function fieldForms(plans: readonly Plan[], value: JsonObject, stored: boolean): Record<string, Json> {
  const forms: Record<string, Json> = {};
  for (const plan of plans) {
    if (isObjectMeta(plan.field)) Object.assign(forms, value[plan.field.name]);
    else if (plan.moved.length === 0) forms[plan.goName] = fieldForm(plan, value, stored);
    else {
      const own = fieldForm(plan, value, stored) as JsonObject;
      forms[plan.goName] = { ...fieldForms(plan.moved, value, stored), ...own };
    }
  }
  return forms;
}

function fieldForm({ field, pointer }: Plan, value: JsonObject, stored: boolean): Json {
  const own = value[field.name] ?? (stored ? undefined : sentEmpty(value, field.name));
  if (own !== undefined && own !== null) return formOf(field.schema, own, stored);
  if (pointer) return null;
  return field.schema.type === "object" ? structForm(field.schema, {}, stored) : zeroValue(field.schema);
}

function isObjectMeta({ schema }: FieldSchema): boolean {
  return schema.goType === `${META}ObjectMeta`;
}

const plansOf = onceForEach((schema: ObjectSchema): readonly Plan[] => {
  const fields = [...schema.fields.values()].filter((field) => !field.goParents?.includes("TypeMeta"));
  const internal = internalFields(schema.goType ?? "");
  if (internal === undefined) return fields.map((field) => planOf(field));
  const byName = new Map(fields.map((field) => [field.name, field]));
  const planned = (name: string, plain: boolean, moved: readonly Plan[] = []) => {
    const field = byName.get(name);
    if (field === undefined) throw new Error(`${schema.goType} has no field ${name}`);
    return planOf(field, plain, moved);
  };
  return internal.map(({ name, plain, moved }) =>
    planned(
      name,
      plain,
      moved.map((it) => planned(it, false)),
    ),
  );
});

function planOf(field: FieldSchema, plain = false, moved: readonly Plan[] = []): Plan {
  return { field, goName: goFieldName(field), pointer: field.pointer && !plain, moved };
}
