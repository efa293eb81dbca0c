/**
 * CEL's run-time values.
 *
 *     CEL    bool     int     uint  double  string  bytes       null  duration  timestamp  list       map       type       optional  others
 *     here   boolean  bigint  Uint  number  string  Uint8Array  null  Duration  Timestamp  ListValue  MapValue  TypeValue  Optional  Opaque
 *
 * 1. Values are immutable. Each CEL type has exactly one representation, so that `typeof` and `instanceof` tell types apart.
 * 2. An int is a bigint within 64 bits signed, a Uint within 64 bits unsigned: whoever makes one has checked its range (see numbers.ts).
 * 3. Lists and maps over JSON (json-value.ts) read what they are asked for, when they are asked, and copy nothing. An object of a schema is a
 *    map of its fields by their names in CEL.
 * 4. Failing is an outcome, not an exception: whatever may fail returns `Value | CelError`. The only thing that is thrown is the
 *    end of the budget (cost.ts), because nothing in an expression may absorb it.
 * 5. Equality is `equal` (equality.ts), order is `compare` (order.ts), size is `sizeOf` below; never `===` on what may be more than a scalar.
 */
import type { JsonObject } from "../../json/json.ts";
import type { Type } from "./type.ts";
import * as types from "./type.ts";

export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Duration
  | Timestamp
  | ListValue
  | MapValue
  | TypeValue
  | Optional
  | Opaque;

export type Outcome = Value | CelError;

/** Why there is no value. The message is what users read. */
export class CelError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** `no such overload: …` and its kin are made here, so that their words stand in one place. */
export function noSuchOverload(name?: string, args?: readonly Value[]): CelError {
  if (name === undefined || args === undefined) return new CelError("no such overload");
  return new CelError(`no such overload: ${name}(${args.map((arg) => types.typeName(typeOf(arg))).join(", ")})`);
}

export class Uint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

/** Nanoseconds within 64 bits signed. */
export class Duration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class Timestamp {
  /** Since 1970, within the years 1 to 9999. */
  readonly nanos: bigint;
  /** Of the time zone in which it was written, and in which it is written again. */
  readonly offsetMinutes: number;

  constructor(nanos: bigint, offsetMinutes = 0) {
    this.nanos = nanos;
    this.offsetMinutes = offsetMinutes;
  }
}

export abstract class ListValue {
  abstract readonly size: number;
  /** Index within range. Fails where the JSON behind the item is not what its type says. */
  abstract at(index: number): Outcome;
  /** How it compares and adds where a schema makes it a set or a map; item by item and one after the other if absent. */
  equals?(other: ListValue): boolean;
  plus?(other: ListValue): Outcome;
}

/** A list of values that exist already. */
export class ArrayList extends ListValue {
  readonly items: readonly Value[];

  constructor(items: readonly Value[]) {
    super();
    this.items = items;
  }

  override get size(): number {
    return this.items.length;
  }

  override at(index: number): Outcome {
    return this.items[index] ?? null;
  }
}

/** Two lists after each other, without copying either. */
export class ConcatList extends ListValue {
  override readonly size: number;
  private readonly parts: readonly ListValue[];

  constructor(a: ListValue, b: ListValue) {
    super();
    this.parts = [...(a instanceof ConcatList ? a.parts : [a]), ...(b instanceof ConcatList ? b.parts : [b])];
    this.size = a.size + b.size;
  }

  override at(index: number): Outcome {
    let rest = index;
    for (const part of this.parts) {
      if (rest < part.size) return part.at(rest);
      rest -= part.size;
    }
    return null;
  }
}

export abstract class MapValue {
  abstract readonly size: number;
  /** Undefined if there is no such key, whatever the key's type. Numbers that are equal are the same key. */
  abstract get(key: Value): Outcome | undefined;
  abstract has(key: Value): boolean;
  abstract keys(): Iterable<Value>;
  /** Of a JSON object: what it holds beyond the fields of its type. This only takes part in equality. */
  unknownFields(): JsonObject {
    return {};
  }
}

/** A value with a type of its own that an expression made: `Type{field: value}`. Its keys are the fields that are set. */
export abstract class ObjectValue extends MapValue {
  abstract readonly type: types.ObjectType;
}

/** What the expressions `int` or `type(x)` stand for. */
export class TypeValue {
  readonly type: Type;

  constructor(type: Type) {
    this.type = type;
  }
}

export class Optional {
  /** Undefined: `optional.none()`. */
  readonly value: Value | undefined;

  constructor(value: Value | undefined) {
    this.value = value;
  }
}

export const none: Optional = new Optional(undefined);

/** A value of a library's own type: extend it. */
export abstract class Opaque {
  abstract readonly type: Type;
  abstract equals(other: Opaque): boolean;
  /** For costs, where it has a size; 1 otherwise. */
  get size(): number {
    return 1;
  }
  /** Where it has an order. */
  compare?(other: Opaque): number | CelError;
  /** Zero in the sense of `optional.ofNonZeroValue`. */
  get isZero(): boolean {
    return false;
  }
}

const dynList = types.list(types.dyn);
const dynMap = types.map(types.dyn, types.dyn);
const dynOptional = types.optional(types.dyn);
const metaDyn = types.meta(types.dyn);

/** The type as far as a value alone tells: parameters are dyn. */
export function typeOf(value: Value): Type {
  switch (typeof value) {
    case "boolean":
      return types.bool;
    case "bigint":
      return types.int;
    case "number":
      return types.double;
    case "string":
      return types.string;
  }
  if (value === null) return types.nullType;
  if (value instanceof ListValue) return dynList;
  if (value instanceof ObjectValue || value instanceof Opaque) return value.type;
  if (value instanceof MapValue) return dynMap;
  if (value instanceof Uint) return types.uint;
  if (value instanceof Uint8Array) return types.bytes;
  if (value instanceof Duration) return types.duration;
  if (value instanceof Timestamp) return types.timestamp;
  if (value instanceof Optional) return dynOptional;
  return metaDyn;
}

/** The size that costs follow: of what has none it is 1. */
export function costSize(value: Value): number {
  return value instanceof Opaque ? value.size : (sizeOf(value) ?? 1);
}

/** Code points of a string, bytes, items or entries; undefined for what has no size. */
export function sizeOf(value: Value): number | undefined {
  if (typeof value === "string") return codePoints(value);
  if (value instanceof ListValue || value instanceof MapValue) return value.size;
  if (value instanceof Uint8Array) return value.length;
  return undefined;
}

export function codePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    if ((text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) {
      count--;
      index++;
    }
  }
  return count;
}
