/**
 * Turns the lines of the fact tables into schemas.
 *
 * 1. Lazy: a package is split when one of its types is read, the lines of a type when its fields are.
 * 2. A type is one object, from wherever it is reached: recursion ends there, and callers may use it as a key. The one
 *    exception is a field that overrides whether its type is atomic.
 */
import type { Json } from "../machinery/json/json.ts";
import type {
  AnySchema,
  EitherSchema,
  FieldSchema,
  ListSchema,
  MapSchema,
  ObjectSchema,
  ScalarSchema,
  ScalarType,
  Schema,
} from "../machinery/schema/schema.ts";
import { type PackageLines, packageName, readEmbedded, readField, readForm, readPackage } from "./lines.ts";

export interface TypeTable {
  /** By full name, such as io.k8s.api.apps.v1.Deployment. */
  schema(name: string): ObjectSchema;
  /** The full names of all types that are objects in JSON. */
  names(): string[];
}

const SCALAR_TYPES: readonly ScalarType[] = [
  "string",
  "boolean",
  "int32",
  "int64",
  "double",
  "bytes",
  "quantity",
  "intOrString",
  "time",
  "microTime",
  "duration",
];
const SCALARS: ReadonlyMap<string, ScalarSchema> = new Map(
  SCALAR_TYPES.map((type) => [type, Object.freeze({ type })] as const),
);
/** RawExtension, FieldsV1 and JSON all keep their bytes in field 1. */
const RAW: AnySchema = Object.freeze({ type: "any", number: 1 });
const ANY: AnySchema = Object.freeze({ type: "any" });

export function typeTable(texts: readonly string[]): TypeTable {
  const textOf = new Map(texts.map((text) => [packageName(text), text]));
  const packages = new Map<string, PackageLines>();
  const known = new Map<string, Schema>();

  function packageOf(name: string): PackageLines {
    const text = textOf.get(name);
    if (text === undefined) throw new Error(`there is no fact table for the package ${name}`);
    const found = packages.get(name) ?? readPackage(text);
    packages.set(name, found);
    return found;
  }

  function named(home: PackageLines, name: string): Schema {
    const full = `${home.name}.${name}`;
    const found = known.get(full) ?? build(home, name, full);
    known.set(full, found);
    return found;
  }

  function build(home: PackageLines, name: string, full: string): Schema {
    const values = home.enums.get(name);
    if (values !== undefined) return Object.freeze({ type: "string", goType: full, enum: values });
    const alias = home.aliases.get(name);
    if (alias !== undefined) return Object.freeze({ ...typeOf(home, alias), goType: full });
    const type = home.types.get(name);
    if (type === undefined) throw new Error(`the fact tables have no type ${full}`);
    const [how, of = ""] = type.words;
    switch (how) {
      case "same":
        return object(full, false, () => asObject(typeOf(home, of)).fields);
      case "list":
        return Object.freeze({ ...list(typeOf(home, of)), goType: full, wrapped: true });
      case "either":
        return Object.freeze({ type: "any", either: eitherOf(home, type.lines) });
      default:
        return object(full, how === "atomic", () => fieldsOf(home, type.lines));
    }
  }

  function fieldsOf(home: PackageLines, lines: readonly string[]): Map<string, FieldSchema> {
    const fields = new Map<string, FieldSchema>();
    for (const line of lines) {
      const embedded = readEmbedded(line);
      const found =
        embedded === undefined
          ? [field(home, line)]
          : [...asObject(typeOf(home, embedded.type)).fields.values()].map((inner) => inlined(inner, embedded));
      for (const one of found) fields.set(one.name, one);
    }
    return fields;
  }

  function field(home: PackageLines, line: string): FieldSchema {
    const { type, list: listType, map: mapType, patch, go, default: value, ...rest } = readField(line);
    const [patchStrategy, patchMergeKey] = patch?.split(":") ?? [];
    return Object.freeze({
      ...rest,
      ...(go === undefined ? {} : { goName: go }),
      schema: refined(typeOf(home, type), listType, mapType),
      default: value === undefined ? undefined : (JSON.parse(value) as Json),
      patchStrategy,
      patchMergeKey,
    });
  }

  function eitherOf(home: PackageLines, lines: readonly string[]): EitherSchema {
    const forms = lines.map(readForm).map(({ number, type }) => ({ number, schema: typeOf(home, type) }));
    const one = forms.find(({ schema }) => schema.type === "object");
    const other = forms.find(({ schema }) => schema.type !== "object");
    if (one === undefined || other === undefined || forms.length !== 2) {
      throw new Error(`${home.name}: an either needs an object and something else: ${lines.join(",")}`);
    }
    return Object.freeze({
      object: { number: one.number, schema: asObject(one.schema) },
      other: { number: other.number, form: formOf(other.schema) },
    });
  }

  function typeOf(home: PackageLines, type: string): Schema {
    if (type.startsWith("[]")) return list(typeOf(home, type.slice(2)));
    if (type.startsWith("{")) return map(home, type);
    if (type === "raw") return RAW;
    if (type === "any") return ANY;
    const [short, name] = type.split(".");
    if (name === undefined) return SCALARS.get(type) ?? named(home, type);
    return named(packageOf(home.uses.get(short ?? "") ?? type), name);
  }

  /** `{}T`, or `{K}T` where Go's keys have a type of their own. */
  function map(home: PackageLines, type: string): MapSchema {
    const end = type.indexOf("}");
    const keys = typeOf(home, type.slice(1, end) || "string") as ScalarSchema;
    const values = typeOf(home, type.slice(end + 1));
    return Object.freeze({ type: "map", ...(keys.goType === undefined ? {} : { keyType: keys.goType }), values });
  }

  return {
    schema(name) {
      const dot = name.lastIndexOf(".");
      return asObject(named(packageOf(name.slice(0, dot)), name.slice(dot + 1)));
    },
    names: () =>
      [...textOf.keys()].flatMap((name) =>
        [...packageOf(name).types]
          .filter(([, { words }]) => words[0] !== "either" && words[0] !== "list")
          .map(([type]) => `${name}.${type}`),
      ),
  };
}

function object(goType: string, atomic: boolean, read: () => ReadonlyMap<string, FieldSchema>): ObjectSchema {
  let fields: ReadonlyMap<string, FieldSchema> | undefined;
  return Object.freeze({
    type: "object",
    goType,
    ...(atomic ? { atomic } : {}),
    get fields() {
      fields ??= read();
      return fields;
    },
  });
}

function list(items: Schema): ListSchema {
  return Object.freeze({ type: "list", items, listType: "atomic", implicit: true, keys: [] });
}

/** A field of an embedded struct as the outer one shows it; TypeMeta (number 0) is not in the outer message. */
function inlined(
  inner: FieldSchema,
  { number, type }: { readonly number: number; readonly type: string },
): FieldSchema {
  const goParents = Object.freeze([type.slice(type.indexOf(".") + 1), ...(inner.goParents ?? [])]);
  if (number === 0) return Object.freeze({ ...inner, number: 0, goParents });
  return Object.freeze({ ...inner, embedded: Object.freeze([number, ...(inner.embedded ?? [])]), goParents });
}

function refined(schema: Schema, listType: string | undefined, mapType: string | undefined): Schema {
  if (schema.type === "list" && listType !== undefined) {
    const [kind, keys] = listType.split(":");
    if (kind !== "atomic" && kind !== "set" && kind !== "map") throw new Error(`there is no list type ${listType}`);
    const { implicit: _, ...rest } = schema;
    return Object.freeze({ ...rest, listType: kind, keys: keys?.split(",") ?? [] });
  }
  if (schema.type === "map" && mapType === "atomic") return Object.freeze({ ...schema, atomic: true });
  if (schema.type === "object" && schema.goType !== undefined && mapType !== undefined) {
    return object(schema.goType, mapType === "atomic", () => schema.fields);
  }
  return schema;
}

function formOf(schema: Schema): "boolean" | "objects" | "strings" {
  if (schema.type === "boolean") return "boolean";
  if (schema.type === "list" && schema.items.type === "object") return "objects";
  if (schema.type === "list" && schema.items.type === "string") return "strings";
  throw new Error(`an either has no form ${schema.type}`);
}

function asObject(schema: Schema): ObjectSchema {
  if (schema.type !== "object") throw new Error(`the type is not an object but ${schema.type}`);
  return schema;
}
