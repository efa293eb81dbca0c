/**
 * CEL's run-time values.
 *
 *     CEL      bool     int     uint  double  string  bytes       null  duration  timestamp
 *     here     boolean  bigint  Uint  number  string  Uint8Array  null  Duration  Timestamp
 *
 *     CEL      list       map       type       optional  others
 *     here     ListValue  MapValue  TypeValue  Optional  Opaque
 *
 * 1. Values are immutable. Each CEL type has exactly one representation, so that `typeof` and `instanceof` decide
 *    types.
 * 2. An int is a bigint within 64 bits signed, a Uint within 64 bits unsigned: its creator has checked the range (see
 *    numbers.ts).
 * 3. Lists and maps over JSON (json-value.ts) are lazy and copy nothing. An object of a schema is a map of its fields
 *    by their names in CEL.
 * 4. Failing is an outcome, not an exception: what may fail returns `Value | CelError`. Only the end of the budget
 *    (cost.ts) is thrown, because nothing in an expression may absorb it.
 * 5. Equality is `equal` (equality.ts), order is `compare` (order.ts), size is `sizeOf` below; never use `===` on
 *    values that may be more than scalars.
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

/** Why there is no value. Users read the message. */
export class CelError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** Constructors of common errors, so that their words stand in one place. */
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
  /** The index must be within range. Fails where the JSON of the item does not fit its type. */
  abstract at(index: number): Outcome;
  /** How it compares and adds where a schema makes it a set or a map; in order if absent. */
  equals?(other: ListValue): boolean;
  plus?(other: ListValue): Outcome;
}

/** A list of existing values. */
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

/** Two lists after each other, without copying. */
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
  /** Undefined if there is no such key, whatever the key's type. Equal numbers are the same key. */
  abstract get(key: Value): Outcome | undefined;
  abstract has(key: Value): boolean;
  abstract keys(): Iterable<Value>;
  /** For a JSON object: its fields beyond its type. They only take part in equality. */
  unknownFields(): JsonObject {
    return {};
  }
}

/**
 * A value of a named type that an expression constructed: `Type{field: value}`. Its keys are the fields that are set.
 */
export abstract class ObjectValue extends MapValue {
  abstract readonly type: types.ObjectType;
}

/** The value of the expressions `int` or `type(x)`. */
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
  /** The size for costs; 1 if it has none. */
  get size(): number {
    return 1;
  }
  /** If it has an order. */
  compare?(other: Opaque): number | CelError;
  /** Whether it is zero for `optional.ofNonZeroValue`. */
  get isZero(): boolean {
    return false;
  }
}

const dynList = types.list(types.dyn);
const dynMap = types.map(types.dyn, types.dyn);
const dynOptional = types.optional(types.dyn);
const metaDyn = types.meta(types.dyn);

/** The type as far as a value determines it: parameters are dyn. */
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

/** The size for costs: 1 for values without a size. */
export function costSize(value: Value): number {
  return value instanceof Opaque ? value.size : (sizeOf(value) ?? 1);
}

/** Code points of a string, bytes, items or entries; undefined for values without a size. */
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
