/**
 * Typed decoding: gives the JSON that Go would write after reading the input into its types.
 *
 * 1. The result shares nothing with the input, except for parts of type `any`; the input is not changed.
 * 2. Fields stand in the order of the schema, keys of maps are sorted. Unknown fields and nulls are dropped; unknown
 *    fields are reported by path in the order of the input, as many as Go reports. Fields that Go always writes are
 *    there, zero values included. Empty lists and maps are left out, but noted (json/sent-empty.ts).
 * 3. The first value of a wrong type ends decoding, with the message of Go's JSON decoder, or of its conversion from
 *    maps, which strategic merge patches go through.
 * 4. Objects without a Go type are only pruned: their values are validated elsewhere. Objects of custom kinds have a
 *    form of their own.
 * 5. A schema is compiled once, and the result kept as long as the schema lives.
 */

import { table } from "#base";
import { isObject, type Json } from "../json/json.ts";
import { MAX_STRICT_ERRORS } from "../json/json-text.ts";
import { getKey, type OpenObject, setKey } from "../json/own-key.ts";
import { noteEmpties } from "../json/sent-empty.ts";
import { compileScalar, type DecodeContext, type Decoder, FAILED, mismatch, refused } from "./decode-scalars.ts";
import { goStructName, goTypeName } from "./go-types.ts";
import { once, onceForEach } from "./memo.ts";
import type { AnySchema, FieldSchema, ListSchema, MapSchema, ObjectSchema, Schema } from "./schema.ts";
import { isAlwaysWritten, leavesOut, zeroField, zeroValue } from "./zero.ts";

export interface DecodeOptions {
  /** Which of Go's decoders the messages come from. Default: `json`. */
  readonly from?: "json" | "maps";
  /** For objects of custom kinds: nulls that their schema does not allow stay, and validation refuses them. */
  readonly keepsNull?: boolean;
}

export interface Decoded {
  readonly value: Json;
  /** Paths such as `spec.containers[0].foo`. */
  readonly unknown: readonly string[];
}

export class DecodeError extends Error {
  override readonly name = "DecodeError";
}

export function decode(schema: Schema, value: Json, options: DecodeOptions = {}): Decoded {
  if (schema.type === "object" && schema.form !== undefined) return schema.form.decode(value, options);
  const context: DecodeContext = { from: options.from ?? "json", unknown: [], failure: undefined };
  const decoded = value === null ? zeroValue(schema) : decoderOf(schema)(value, context);
  if (decoded === FAILED) throw new DecodeError(wordsOf(context));
  return { value: decoded as Json, unknown: context.from === "maps" ? context.unknown.sort() : context.unknown };
}

function wordsOf({ failure }: DecodeContext): string {
  if (failure === undefined) return "";
  if (failure.goType === undefined) return failure.words;
  const path = failure.path.reverse().join(".");
  const target =
    failure.struct === undefined || failure.struct === "" ? "Go value" : `Go struct field ${failure.struct}.${path}`;
  return `json: cannot unmarshal ${failure.words} into ${target} of type ${failure.goType}`;
}

/**
 * Lists for which defaults and validation must know an empty list from an absent one. Everywhere else the empty list is
 * dropped. Validation refuses an empty one of these, so none is ever stored.
 */
const KEEPS_EMPTY: Readonly<Record<string, readonly string[]>> = table({
  "io.k8s.api.autoscaling.v2.HPAScalingRules": ["policies"],
});

const decoderOf = onceForEach(compile);

function compile(schema: Schema): Decoder {
  switch (schema.type) {
    case "object":
      return schema.goType === undefined ? compilePruning(schema) : compileStruct(schema);
    case "list":
      return compileList(schema);
    case "map":
      return compileMap(schema);
    case "any":
      return compileAny(schema);
    default:
      return compileScalar(schema);
  }
}

interface FieldPlan {
  readonly name: string;
  /** The embedded structs around it, innermost first: Go's messages name them. */
  readonly parents: readonly string[] | undefined;
  /** Its index in the order of the schema. */
  readonly rank: number;
  readonly decode: Decoder;
  readonly leavesOut: (value: Json) => boolean;
}

function compileStruct(schema: ObjectSchema): Decoder {
  const goType = goTypeName(schema);
  const struct = goStructName(schema);
  const lazily = once(() => {
    const fields = [...schema.fields.values()];
    const kept = KEEPS_EMPTY[schema.goType ?? ""] ?? [];
    const plans = fields.map((field, rank) => ({ ...planOf(field, kept.includes(field.name)), rank }));
    return {
      byName: new Map(plans.map((plan) => [plan.name, plan])),
      always: fields.flatMap((field, rank) =>
        isAlwaysWritten(field) ? [{ name: field.name, rank, zero: () => zeroField(field) }] : [],
      ),
    };
  });
  return (value, context) => {
    if (!isObject(value)) return mismatch(context, value, goType, "struct");
    const { byName, always } = lazily();
    const result: OpenObject = {};
    let last = -1;
    let ordered = true;
    let empties: Map<string, Json> | undefined;
    for (const key in value) {
      const plan = byName.get(key);
      if (plan === undefined) {
        if (context.unknown.length < MAX_STRICT_ERRORS) context.unknown.push(key);
        continue;
      }
      const raw = value[key];
      if (raw === null || raw === undefined) continue;
      const known = context.unknown.length;
      const decoded = plan.decode(raw, context);
      if (decoded === FAILED) return failedIn(context, key, struct, plan.parents);
      if (context.unknown.length > known) prefix(context, known, key);
      if (plan.leavesOut(decoded as Json)) {
        if (typeof decoded !== "object") continue;
        empties ??= new Map();
        empties.set(key, decoded as Json);
        continue;
      }
      result[key] = decoded as Json;
      if (plan.rank < last) ordered = false;
      last = plan.rank;
    }
    for (const { name, rank, zero } of always) {
      if (result[name] !== undefined) continue;
      result[name] = zero();
      if (rank < last) ordered = false;
      last = rank;
    }
    const whole = ordered ? result : inOrder(result, byName);
    if (empties !== undefined) noteEmpties(whole, empties);
    return whole;
  };
}

function inOrder(object: OpenObject, plans: ReadonlyMap<string, FieldPlan>): OpenObject {
  const names = Object.keys(object);
  const ranks = names.map((name) => plans.get(name)?.rank ?? 0);
  for (let i = 1; i < names.length; i++) {
    const name = names[i] as string;
    const rank = ranks[i] as number;
    let at = i;
    for (; at > 0 && (ranks[at - 1] as number) > rank; at--) {
      ranks[at] = ranks[at - 1] as number;
      names[at] = names[at - 1] as string;
    }
    ranks[at] = rank;
    names[at] = name;
  }
  const result: OpenObject = {};
  for (const name of names) result[name] = object[name] as Json;
  return result;
}

function planOf(field: FieldSchema, keepsEmpty: boolean): Omit<FieldPlan, "rank"> {
  const absent = keepsEmpty ? (value: Json) => value === null : leavesOut(field);
  const parents = field.goParents?.toReversed();
  return { name: field.name, parents, decode: decoderOf(field.schema), leavesOut: absent };
}

function compilePruning(schema: ObjectSchema): Decoder {
  return (value, context) => {
    if (!isObject(value)) return value;
    const result: OpenObject = {};
    for (const key of Object.keys(value)) {
      const raw = value[key] ?? null;
      const field = schema.fields.get(key);
      if (field === undefined && schema.preserveUnknown !== true) {
        if (context.unknown.length < MAX_STRICT_ERRORS) context.unknown.push(key);
        continue;
      }
      const known = context.unknown.length;
      const decoded = field === undefined || raw === null ? raw : decoderOf(field.schema)(raw, context);
      if (decoded === FAILED) return failedIn(context, key, "");
      if (context.unknown.length > known) prefix(context, known, key);
      setKey(result, key, decoded as Json);
    }
    return result;
  };
}

function compileList(schema: ListSchema): Decoder {
  const goType = goTypeName(schema);
  let decodeItem: Decoder | undefined;
  return (value, context) => {
    if (!Array.isArray(value)) return mismatch(context, value, goType, "slice");
    decodeItem ??= decoderOf(schema.items);
    const items: Json[] = [];
    for (let i = 0; i < value.length; i++) {
      const raw = value[i] as Json;
      const known = context.unknown.length;
      const decoded = raw === null ? zeroValue(schema.items) : decodeItem(raw, context);
      if (decoded === FAILED) return FAILED;
      if (context.unknown.length > known) prefix(context, known, `[${i}]`);
      items.push(decoded as Json);
    }
    return items;
  };
}

function compileMap(schema: MapSchema): Decoder {
  const goType = goTypeName(schema);
  let decodeValue: Decoder | undefined;
  return (value, context) => {
    if (!isObject(value)) return mismatch(context, value, goType, "map");
    decodeValue ??= decoderOf(schema.values);
    const result: OpenObject = {};
    const keys = Object.keys(value);
    for (const key of keys.length > 1 ? keys.sort() : keys) {
      const raw = getKey(value, key) ?? null;
      const known = context.unknown.length;
      const decoded = raw === null ? zeroValue(schema.values) : decodeValue(raw, context);
      if (decoded === FAILED) return FAILED;
      if (context.unknown.length > known) prefix(context, known, key);
      setKey(result, key, decoded as Json);
    }
    return result;
  };
}

/** Go's own decoders of such types do not report unknown fields. */
function compileAny(schema: AnySchema): Decoder {
  const { either } = schema;
  if (either === undefined) return (value) => value;
  const quietly = (value: Json, context: DecodeContext): Json | typeof FAILED => {
    const inner: DecodeContext = { ...context, unknown: [] };
    const decoded = decoderOf(either.object.schema)(value, inner);
    context.failure = inner.failure;
    return decoded;
  };
  return (value, context) => {
    if (isObject(value)) return quietly(value, context);
    if (either.other.form === "boolean")
      return typeof value === "boolean" ? value : refused(context, "boolean or JSON schema expected");
    // Go leaves such a value out.
    if (!Array.isArray(value)) return null;
    const items =
      either.other.form === "strings"
        ? value.map((item) => decodeText(item, context))
        : value.map((item) => quietly(item, context));
    return items.includes(FAILED) ? FAILED : (items as Json[]);
  };
}

const decodeText = compileScalar({ type: "string" });

function failedIn(
  context: DecodeContext,
  name: string,
  struct: string,
  parents: readonly string[] = [],
): typeof FAILED {
  const { failure } = context;
  if (failure !== undefined) {
    failure.struct ??= struct;
    failure.path.push(name, ...parents);
  }
  return FAILED;
}

/** Prefixes the paths found inside of a step. */
function prefix(context: DecodeContext, from: number, step: string): void {
  for (let i = from; i < context.unknown.length; i++) {
    const inner = context.unknown[i] as string;
    context.unknown[i] = inner.startsWith("[") ? `${step}${inner}` : `${step}.${inner}`;
  }
}
