/**
 * Applies the value of a mutation to an object: pure.
 *
 * 1. An apply configuration sets the fields that it names and keeps all others. It may not name atomic lists, maps or
 *    structs: what it does not repeat of them would be lost.
 * 2. A JSON patch with a test that fails changes nothing.
 */
import {
  applyJsonPatch,
  cel,
  isObject,
  type Json,
  type JsonObject,
  JsonPatchError,
  merge,
  nonconformance,
  type ObjectSchema,
  type Schema,
} from "#api";
import { MutationError } from "./mutating-policy.ts";

export function applyObject(schema: ObjectSchema, object: JsonObject, value: cel.Value): JsonObject {
  const mismatches = typeMismatches(value, ["Object"]);
  if (mismatches.length > 0) throw new MutationError(`type mismatch: ${mismatches.join("\n")}`);
  const patch = { ...(jsonOf(value) as JsonObject), kind: object.kind ?? "", apiVersion: object.apiVersion ?? "" };
  const fault = nonconformance(schema, patch);
  if (fault !== undefined)
    throw new MutationError(`error applying patch: failed to convert patch object to typed object: ${fault}`);
  const whole = atomics(schema, patch, "");
  if (whole.length > 0) {
    const why = `may not mutate atomic arrays, maps or structs: ${whole.join(", ")}`;
    throw new MutationError(`error applying patch: invalid ApplyConfiguration: ${why}`);
  }
  return merge(schema, object, patch) as JsonObject;
}

export function applyPatches(object: JsonObject, value: cel.Value): Json {
  const operations: JsonObject[] = [];
  const list = value as cel.ListValue;
  for (let i = 0; i < list.size; i++) {
    const operation = list.at(i);
    if (operation instanceof cel.CelError) throw new MutationError(operation.message);
    operations.push(operationOf(operation as cel.MapValue));
  }
  try {
    return applyJsonPatch(object, operations, { replaceMissing: false });
  } catch (error) {
    if (!(error instanceof JsonPatchError)) throw error;
    if (error.isTest) return object;
    throw new MutationError(`JSON Patch: ${error.message}`);
  }
}

function operationOf(operation: cel.MapValue): JsonObject {
  const value = operation.get("value");
  if (value instanceof cel.ObjectValue) {
    const mismatches = typeMismatches(value, [value.type.name]);
    if (mismatches.length > 0) throw new MutationError(`type mismatch: ${mismatches.join("\n")}`);
  }
  const text = (field: string) => String(operation.get(field) ?? "");
  return {
    op: text("op"),
    path: text("path"),
    ...(text("from") !== "" && { from: text("from") }),
    ...(value !== undefined && { value: jsonOf(value as cel.Value) }),
  };
}

function jsonOf(value: cel.Value): Json {
  const json = cel.toJson(value);
  if (!(json instanceof cel.CelError)) return json;
  throw new MutationError(
    `JSONPath valueExpression evaluated to a type that could not marshal to JSON: ${json.message}`,
  );
}

/** A type is named after the path of fields that leads to its value; lists and maps on the path have no names. */
function typeMismatches(value: cel.Outcome, path: readonly string[]): readonly string[] {
  const faults: string[] = [];
  if (value instanceof cel.ObjectValue) {
    const wanted = path.join(".");
    if (value.type.name !== wanted) {
      faults.push(
        `unexpected type name ${JSON.stringify(value.type.name)}, expected ${JSON.stringify(wanted)}, which matches field name path from root Object type`,
      );
    }
    for (const key of value.keys()) faults.push(...typeMismatches(value.get(key) ?? null, [...path, String(key)]));
  } else if (value instanceof cel.MapValue) {
    for (const key of value.keys()) faults.push(...typeMismatches(value.get(key) ?? null, path));
  } else if (value instanceof cel.ListValue) {
    for (let i = 0; i < value.size; i++) faults.push(...typeMismatches(value.at(i), path));
  }
  return faults;
}

/** The paths of atomic lists, maps and structs. */
function atomics(schema: Schema, value: Json, path: string): readonly string[] {
  if (isObject(value) && (schema.type === "object" || schema.type === "map")) {
    const own = schema.atomic === true ? [path] : [];
    if (schema.type === "map") return own;
    const parts = Object.entries(value).flatMap(([name, part]) => {
      const field = schema.fields.get(name);
      return field === undefined ? [] : atomics(field.schema, part, `${path}.${name}`);
    });
    return [...own, ...parts];
  }
  if (Array.isArray(value) && schema.type === "list") {
    const own = schema.listType === "atomic" ? [path] : [];
    return [...own, ...value.flatMap((item: Json, i) => atomics(schema.items, item, `${path}[${i}]`))];
  }
  return [];
}
