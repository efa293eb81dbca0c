/**
 * CEL's static types, for the checker and for reading JSON.
 *
 * 1. Types are immutable values; compare them with `sameType`, never by identity. Simple types are shared constants.
 * 2. `data` is for reading JSON and estimating sizes. It takes no part in type checking, equality of types or their
 *    names.
 * 3. An object's `fields` may be a getter that resolves on first use: object types may refer to themselves.
 */
import { isReserved } from "./escape.ts";

export type SimpleKind =
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "null_type"
  | "duration"
  | "timestamp"
  | "dyn"
  /** The type of a faulty expression; it fits everywhere, so that one fault is reported once. */
  | "error";

export type Type = SimpleType | ListType | MapType | ObjectType | OpaqueType | MetaType | TypeParameter;

/** The form of the JSON behind a typed value. */
export interface DataHints {
  /** The maximum size: code points of a string, bytes, items of a list, entries of a map. Unlimited if absent. */
  readonly maxSize?: number;
  /** The minimum number of bytes in JSON. */
  readonly minSize?: number;
  /** JSON null is the value null instead of an error. */
  readonly nullable?: boolean;
  /** `date`: a timestamp written as 2006-01-02. `intOrString`: a dyn that is one of these. */
  readonly format?: "date" | "intOrString";
  /** How two lists compare and add: as sets, or as maps by the values of `keys`. In order if absent. */
  readonly listType?: { readonly type: "set" } | { readonly type: "map"; readonly keys: readonly string[] } | undefined;
}

export interface SimpleType {
  readonly kind: SimpleKind;
  readonly data?: DataHints | undefined;
}
export interface ListType {
  readonly kind: "list";
  readonly element: Type;
  readonly data?: DataHints | undefined;
}
export interface MapType {
  readonly kind: "map";
  readonly key: Type;
  readonly value: Type;
  readonly data?: DataHints | undefined;
}
/** A type with named fields. */
export interface ObjectType {
  readonly kind: "object";
  readonly name: string;
  /** By their names in CEL. */
  readonly fields: ReadonlyMap<string, Field>;
  readonly data?: DataHints | undefined;
}
export interface Field {
  /** The name in JSON, where CEL's is escaped: `x-y` is `x__dash__y` in CEL. */
  readonly json: string;
  readonly type: Type;
}
/** A type that only functions look into, such as `optional_type(T)` or `net.IP`. */
export interface OpaqueType {
  readonly kind: "opaque";
  readonly name: string;
  readonly parameters: readonly Type[];
  readonly data?: DataHints | undefined;
}
/** The type of types: `type(int)` is the type of the expression `int`. */
export interface MetaType {
  readonly kind: "type";
  readonly of: Type;
  readonly data?: DataHints | undefined;
}
/** Stands for any one type within an overload: A in `(A, list(A)) -> bool`. */
export interface TypeParameter {
  readonly kind: "parameter";
  readonly name: string;
  readonly data?: DataHints | undefined;
}

export const bool: Type = { kind: "bool" };
export const int: Type = { kind: "int" };
export const uint: Type = { kind: "uint" };
export const double: Type = { kind: "double" };
export const string: Type = { kind: "string" };
export const bytes: Type = { kind: "bytes" };
export const nullType: Type = { kind: "null_type" };
export const duration: Type = { kind: "duration" };
export const timestamp: Type = { kind: "timestamp" };
export const dyn: Type = { kind: "dyn" };
export const errorType: Type = { kind: "error" };

export function list(element: Type, data?: DataHints): ListType {
  return { kind: "list", element, data };
}

export function map(key: Type, value: Type, data?: DataHints): MapType {
  return { kind: "map", key, value, data };
}

/** `fields` as a function is called on first use, once. */
export function object(
  name: string,
  fields: ReadonlyMap<string, Field> | (() => ReadonlyMap<string, Field>),
  data?: DataHints,
): ObjectType {
  if (typeof fields !== "function") return { kind: "object", name, fields, data };
  let resolved: ReadonlyMap<string, Field> | undefined;
  return {
    kind: "object",
    name,
    get fields() {
      resolved ??= fields();
      return resolved;
    },
    data,
  };
}

export function opaque(name: string, ...parameters: readonly Type[]): OpaqueType {
  return { kind: "opaque", name, parameters };
}

export function optional(of: Type): OpaqueType {
  return opaque("optional_type", of);
}

export function meta(of: Type): MetaType {
  return { kind: "type", of };
}

export function parameter(name: string): TypeParameter {
  return { kind: "parameter", name };
}

/** A field with the name of a reserved word may be selected by its escaped name or by the word itself. */
export function fieldOf(type: ObjectType, name: string): Field | undefined {
  return type.fields.get(name) ?? (isReserved(name) ? type.fields.get(`__${name}__`) : undefined);
}

/** The same type with other data hints. */
export function withData<T extends Type>(type: T, data: DataHints): T {
  // Not a spread: `fields` of an object must stay a getter.
  return Object.defineProperties({} as T, {
    ...Object.getOwnPropertyDescriptors(type),
    data: { value: data, enumerable: true },
  });
}

/** The name only, as `type(x)` prints it: without parameters. */
export function typeName(type: Type): string {
  if (type.kind === "object" || type.kind === "opaque" || type.kind === "parameter") return type.name;
  if (type.kind === "duration") return "google.protobuf.Duration";
  if (type.kind === "timestamp") return "google.protobuf.Timestamp";
  return type.kind;
}

/** As messages of the checker print it: `map(string, list(int))`. */
export function formatType(type: Type): string {
  switch (type.kind) {
    case "list":
      return `list(${formatType(type.element)})`;
    case "map":
      return `map(${formatType(type.key)}, ${formatType(type.value)})`;
    case "type":
      return `type(${formatType(type.of)})`;
    case "opaque":
      return type.parameters.length === 0 ? type.name : `${type.name}(${type.parameters.map(formatType).join(", ")})`;
    case "duration":
    case "timestamp":
      return type.kind;
    case "null_type":
      return "null";
    case "error":
      return "!error!";
    default:
      return typeName(type);
  }
}

export function sameType(a: Type, b: Type): boolean {
  if (a === b) return true;
  switch (a.kind) {
    case "list":
      return b.kind === "list" && sameType(a.element, b.element);
    case "map":
      return b.kind === "map" && sameType(a.key, b.key) && sameType(a.value, b.value);
    case "type":
      return b.kind === "type" && sameType(a.of, b.of);
    case "object":
    case "parameter":
      return b.kind === a.kind && a.name === b.name;
    case "opaque":
      return b.kind === "opaque" && a.name === b.name && sameTypes(a.parameters, b.parameters);
    default:
      return a.kind === b.kind;
  }
}

function sameTypes(a: readonly Type[], b: readonly Type[]): boolean {
  return a.length === b.length && a.every((type, index) => sameType(type, b[index] ?? errorType));
}
