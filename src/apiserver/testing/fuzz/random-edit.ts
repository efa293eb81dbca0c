/** Random changes of an object: one place of its schema is set, replaced or removed. */
import { isObject, type Json, type JsonObject, type Schema } from "#api";
import type { Random } from "#base";
import { randomValue } from "./random-value.ts";

/** One change: what stands at the path afterwards. Undefined: nothing. */
export interface Edit {
  readonly path: readonly (string | number)[];
  readonly value: Json | undefined;
}

/** A place below the root. Most are fields that the object has already: there the rules of the kind apply. */
export function randomEdit(root: JsonObject, schema: Schema, random: Random): Edit {
  const path: (string | number)[] = [];
  let at: Schema = schema;
  let value: Json | undefined = root;
  while (path.length === 0 || random.next() < 0.8) {
    const step = stepBelow(at, value, random);
    if (step === undefined) break;
    path.push(step.key);
    at = step.schema;
    value = step.value;
  }
  const kind = random.next();
  return { path, value: kind < 0.15 ? undefined : kind < 0.2 ? null : randomValue(at, random) };
}

interface StepBelow {
  readonly key: string | number;
  readonly schema: Schema;
  readonly value: Json | undefined;
}

function stepBelow(schema: Schema, value: Json | undefined, random: Random): StepBelow | undefined {
  if (schema.type === "object") {
    const fields = [...schema.fields.values()];
    const present = isObject(value) ? fields.filter(({ name }) => Object.hasOwn(value, name)) : [];
    if (fields.length === 0) return undefined;
    const field = random.pick(present.length > 0 && random.next() < 0.6 ? present : fields);
    return { key: field.name, schema: field.schema, value: isObject(value) ? value[field.name] : undefined };
  }
  if (schema.type === "list") {
    const list = Array.isArray(value) ? (value as readonly Json[]) : [];
    const key = random.integer(list.length + 1);
    return { key, schema: schema.items, value: list[key] };
  }
  if (schema.type !== "map") return undefined;
  const key = random.pick([...(isObject(value) ? Object.keys(value) : []), "added"]);
  return { key, schema: schema.values, value: isObject(value) ? value[key] : undefined };
}

/** A copy of the value with the edit made. Structures on the way are made where they are missing. */
export function withEdit(value: Json | undefined, { path, value: next }: Edit): Json | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return next;
  const inner = (part: Json | undefined) => withEdit(part, { path: rest, value: next });
  if (typeof key === "number") {
    const list = Array.isArray(value) ? [...(value as readonly Json[])] : [];
    const item = inner(list[key]);
    list.splice(key, 1, ...(item === undefined ? [] : [item]));
    return list;
  }
  const { [key]: part, ...others } = isObject(value) ? value : ({} as JsonObject);
  const made = inner(part);
  return made === undefined ? others : { ...others, [key]: made };
}

/** The edit as a merge patch: null removes. */
export function mergePatchOf(root: JsonObject, { path, value }: Edit): JsonObject {
  // A merge patch has no positions: it replaces the list as a whole.
  const index = path.findIndex((step) => typeof step === "number");
  const upTo = index === -1 ? path : path.slice(0, index);
  const next = index === -1 ? (value ?? null) : (partAt(withEdit(root, { path, value }), upTo) ?? null);
  return upTo.reduceRight<Json>((inner, key) => ({ [key]: inner }), next) as JsonObject;
}

/** The edit as an operation of a JSON patch; a part of them do not apply. */
export function operationOf({ path, value }: Edit, random: Random): JsonObject {
  const pointer = path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  const op = value === undefined ? "remove" : random.pick(["add", "add", "replace", "replace", "test", "copy", "move"]);
  if (op === "copy" || op === "move")
    return { op, path: pointer, from: random.pick(["/metadata/labels", "/spec", pointer]) };
  return { op, path: pointer, ...(value !== undefined && { value }) };
}

function partAt(value: Json | undefined, path: readonly (string | number)[]): Json | undefined {
  return path.reduce<Json | undefined>((part, key) => (isObject(part) ? part[String(key)] : undefined), value);
}
