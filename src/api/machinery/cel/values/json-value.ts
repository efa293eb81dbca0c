/**
 * JSON as CEL values, guided by a type.
 *
 * 1. Lazy and without copies: a value of a large object is a pair of references.
 * 2. A field that is null counts as unset; an item or an entry that is null is the value null if its type allows that.
 * 3. Without a type (dyn), numbers without a fraction are ints, others doubles, objects are maps.
 */

import { isInt64, isNumeric } from "../../json/int64.ts";
import { type Int64, isObject, type Json, type JsonObject } from "../../json/json.ts";
import { decodeBase64 } from "../../scalars/base64.ts";
import { parseDuration } from "../../scalars/duration.ts";
import { parseTime } from "../../scalars/time.ts";
import type { DataHints, ListType, MapType, ObjectType, Type } from "./type.ts";
import { dyn, fieldOf } from "./type.ts";
import { equalInAnyOrder, merged } from "./unordered.ts";
import { CelError, Duration, ListValue, MapValue, type Outcome, Timestamp, type Value } from "./value.ts";

export function fromJson(json: Json, type: Type): Outcome {
  if (json === null) {
    if (type.data?.nullable === true || type.kind === "dyn" || type.kind === "null_type") return null;
    return new CelError("invalid data, got null for schema with nullable=false");
  }
  switch (type.kind) {
    case "string":
      return typeof json === "string" ? json : unexpected("string", json);
    case "bool":
      return typeof json === "boolean" ? json : unexpected("bool", json);
    case "int":
      return isInt64(json) ? intOf(json) : unexpected("int", json);
    case "double":
      return isNumeric(json) ? Number(json) : unexpected("float", json);
    case "object":
      if (isObject(json)) return new JsonObjectValue(json, type);
      return new CelError("invalid data, expected a map for the provided schema with type=object");
    case "map":
      if (isObject(json)) return new JsonMap(json, type);
      return new CelError("invalid data, expected a map for the provided schema with type=object");
    case "list":
      if (Array.isArray(json)) return new JsonList(json, type);
      return new CelError("invalid data, expected an array for the provided schema with type=array");
    case "timestamp":
    case "duration":
    case "bytes":
      return typeof json === "string" ? parsed(json, type.kind, type.data) : unexpected("string", json);
    default:
      return type.data?.format === "intOrString" ? intOrString(json) : untyped(json);
  }
}

/** Most numbers are small, and creating a bigint takes longer than the rest of reading one. */
const smallInts: readonly bigint[] = Array.from({ length: 1024 }, (_, index) => BigInt(index));

function intOf(json: Int64): bigint {
  return typeof json === "bigint" ? json : (smallInts[json] ?? BigInt(json));
}

function unexpected(wanted: string, json: Json): CelError {
  return new CelError(`invalid data, expected ${wanted}, got ${goType(json)}`);
}

function goType(json: Json): string {
  if (typeof json === "string") return "string";
  if (typeof json === "boolean") return "bool";
  if (isNumeric(json)) return isInt64(json) ? "int64" : "float64";
  return Array.isArray(json) ? "[]interface {}" : "map[string]interface {}";
}

function parsed(text: string, kind: "timestamp" | "duration" | "bytes", data: DataHints | undefined): Outcome {
  const what = kind === "bytes" ? "byte" : data?.format === "date" ? "date" : "date-time";
  try {
    if (kind === "duration") return new Duration(parseDuration(text));
    if (kind === "bytes") return decodeBase64(text);
    return timestampOf(what === "date" ? `${text}T00:00:00Z` : text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return new CelError(
      kind === "duration" ? `Invalid duration ${text}: ${why}` : `Invalid ${what} formatted string ${text}: ${why}`,
    );
  }
}

/** Throws a TimeError if it is invalid. */
export function timestampOf(text: string): Timestamp {
  const { seconds, nanos } = parseTime(text);
  const zone = /([+-])(\d\d):(\d\d)$/.exec(text);
  const offset = zone === null ? 0 : (Number(zone[2]) * 60 + Number(zone[3])) * (zone[1] === "-" ? -1 : 1);
  return new Timestamp(BigInt(seconds) * 1_000_000_000n + BigInt(nanos), offset);
}

function intOrString(json: Json): Outcome {
  if (typeof json === "string") return json;
  if (isInt64(json)) return intOf(json);
  return new CelError("invalid data, expected XIntOrString value to be either a string or integer");
}

function untyped(json: Json): Outcome {
  if (isNumeric(json)) return isInt64(json) ? intOf(json) : json;
  if (Array.isArray(json)) return new JsonList(json, untypedList);
  return isObject(json) ? new JsonMap(json, untypedMap) : (json as Value);
}

const untypedList: ListType = { kind: "list", element: dyn };
const untypedMap: MapType = { kind: "map", key: dyn, value: dyn };

/** JSON may hold a key that every JavaScript object has. */
function own(json: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(json, key) ? json[key] : undefined;
}

/** An object of a schema: a map of its fields. */
export class JsonObjectValue extends MapValue {
  readonly json: JsonObject;
  private readonly type: ObjectType;
  private count: number | undefined;

  constructor(json: JsonObject, type: ObjectType) {
    super();
    this.json = json;
    this.type = type;
  }

  /** The whole object, including fields that its type does not have. */
  override get size(): number {
    this.count ??= Object.keys(this.json).length;
    return this.count;
  }

  override get(key: Value): Outcome | undefined {
    const declared = typeof key === "string" ? fieldOf(this.type, key) : undefined;
    if (declared === undefined) return undefined;
    const json = own(this.json, declared.json) ?? null;
    return json === null ? undefined : fromJson(json, declared.type);
  }

  override has(key: Value): boolean {
    const declared = typeof key === "string" ? fieldOf(this.type, key) : undefined;
    return declared !== undefined && (own(this.json, declared.json) ?? null) !== null;
  }

  override *keys(): Iterable<Value> {
    for (const name of this.type.fields.keys()) if (this.has(name)) yield name;
  }

  override unknownFields(): JsonObject {
    const known = new Set([...this.type.fields.values()].map(({ json }) => json));
    return Object.fromEntries(Object.entries(this.json).filter(([key]) => !known.has(key)));
  }
}

export class JsonMap extends MapValue {
  readonly json: JsonObject;
  private readonly type: MapType;
  private count: number | undefined;

  constructor(json: JsonObject, type: MapType) {
    super();
    this.json = json;
    this.type = type;
  }

  override get size(): number {
    this.count ??= Object.keys(this.json).length;
    return this.count;
  }

  override get(key: Value): Outcome | undefined {
    if (typeof key !== "string") return undefined;
    const json = own(this.json, key);
    return json === undefined ? undefined : fromJson(json, this.type.value);
  }

  override has(key: Value): boolean {
    return typeof key === "string" && Object.hasOwn(this.json, key);
  }

  override keys(): Iterable<Value> {
    return Object.keys(this.json);
  }
}

export class JsonList extends ListValue {
  readonly json: readonly Json[];
  private readonly type: ListType;

  constructor(json: readonly Json[], type: ListType) {
    super();
    this.json = json;
    this.type = type;
    const listType = type.data?.listType;
    if (listType === undefined) return;
    this.equals = (other) => equalInAnyOrder(this, other, listType);
    this.plus = (other) => merged(this, other, listType);
  }

  override get size(): number {
    return this.json.length;
  }

  override at(index: number): Outcome {
    return fromJson(this.json[index] ?? null, this.type.element);
  }
}
