/**
 * The one description of structure that everything works from: strict decoding, defaults, pruning, patches, server-side
 * apply, protobuf, OpenAPI. Built-in kinds get theirs from the facts tables, custom resources from their CRD.
 *
 * 1. Schemas are immutable and may be recursive: `fields` of an object is resolved on first use.
 * 2. An object with a Go type (`goType`) is written as Go would write it: see `omit` and `pointer`.
 */
import type { Json } from "../json/json.ts";

export type Schema = ScalarSchema | AnySchema | ObjectSchema | MapSchema | ListSchema;

export type ScalarType =
  | "string"
  | "boolean"
  | "int32"
  | "int64"
  | "double"
  /** Base64 in JSON. */
  | "bytes"
  /** A resource quantity such as 100m or 1Gi; a string in JSON, numbers are accepted. */
  | "quantity"
  | "intOrString"
  /** RFC 3339 to the second. */
  | "time"
  /** RFC 3339 to the microsecond. */
  | "microTime"
  /** Go's duration syntax, such as 1h30m. */
  | "duration";

interface Named {
  /** The full name of the type in Go, such as io.k8s.api.core.v1.Protocol, where it has one of its own. */
  readonly goType?: string;
}

export interface ScalarSchema extends Named {
  readonly type: ScalarType;
  /** The documented values; decoding does not enforce them. */
  readonly enum?: readonly string[];
  readonly format?: string;
}

/** Any JSON: RawExtension, apiextensions' JSON, FieldsV1, or a part of a custom resource without a schema. */
export interface AnySchema extends Named {
  readonly type: "any";
  /** The number of the bytes field in which protobuf carries it, in a message of its own. */
  readonly number?: number;
  /** Not any JSON, but one of two forms. */
  readonly either?: EitherSchema;
}

/**
 * A struct of two fields in Go, and either one of them in JSON: JSONSchemaPropsOrBool and similar types. Protobuf
 * numbers the two forms.
 */
export interface EitherSchema {
  readonly object: { readonly number: number; readonly schema: ObjectSchema };
  readonly other: { readonly number: number; readonly form: "boolean" | "objects" | "strings" };
}

export interface ObjectSchema {
  readonly type: "object";
  /** The full name of the type, such as io.k8s.api.core.v1.PodSpec; absent for custom resources. */
  readonly goType?: string;
  /** In the order in which Go writes them. */
  readonly fields: ReadonlyMap<string, FieldSchema>;
  /** Unknown fields are kept instead of pruned. */
  readonly preserveUnknown?: boolean;
  /** For server-side apply: set and owned as a whole. */
  readonly atomic?: boolean;
  /** For a custom kind as a whole: replaces decoding and defaults by fields. */
  readonly form?: OpenForm;
}

/** How objects of a custom kind are decoded and defaulted; compiled from their definition. */
export interface OpenForm {
  /** A fresh copy without unknown fields, and their paths. Throws a DecodeError. */
  decode(
    value: Json,
    options?: { readonly keepsNull?: boolean },
  ): { readonly value: Json; readonly unknown: readonly string[] };
  /** Sets the defaults, in place. */
  fill(draft: { [key: string]: Json }): void;
}

export interface FieldSchema {
  /** The name in JSON. */
  readonly name: string;
  /** Protobuf's field number; 0 if protobuf does not carry it. */
  readonly number: number;
  /**
   * Protobuf's numbers of the messages around it, outermost first, where Go embeds structs whose fields JSON writes
   * inline.
   */
  readonly embedded?: readonly number[];
  /** The names of those structs, outermost first; also those that protobuf does not carry. */
  readonly goParents?: readonly string[];
  /** The field's name in Go, where it is not the name in JSON with a capital letter. */
  readonly goName?: string;
  readonly schema: Schema;
  /** Required by OpenAPI. */
  readonly required: boolean;
  /** Absent differs from the zero value. */
  readonly pointer: boolean;
  /**
   * When JSON leaves it out: `empty` for zero scalars, empty lists and maps, nil pointers, but never structs; `zero`
   * also for zero structs; `never` writes zero values.
   */
  readonly omit: "empty" | "zero" | "never";
  readonly default?: Json | undefined;
  readonly nullable?: boolean;
  /** Strategic merge patch: `merge`, `replace`, `retainKeys`, or `merge,retainKeys`. */
  readonly patchStrategy?: string | undefined;
  readonly patchMergeKey?: string | undefined;
}

export interface MapSchema extends Named {
  readonly type: "map";
  /** The full name of the keys' type in Go, where they are not plain strings. */
  readonly keyType?: string;
  readonly values: Schema;
  readonly atomic?: boolean;
}

export interface ListSchema extends Named {
  readonly type: "list";
  readonly items: Schema;
  readonly listType: "atomic" | "set" | "map";
  /** Atomic because no list type is set: OpenAPI shows none. */
  readonly implicit?: boolean;
  /** For a `map` list: the fields that identify an item. */
  readonly keys: readonly string[];
  /** Protobuf carries it as a message whose field 1 holds the items (Verbs, ExtraValue). */
  readonly wrapped?: boolean;
}
