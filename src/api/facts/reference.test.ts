/**
 * Compares every fact in the tables with what was recorded of a real server: protobuf numbers and types, struct tags,
 * and what its OpenAPI says. Both sides are reduced to the same words, so that a difference shows as one.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { Json } from "../machinery/json/json.ts";
import type { FieldSchema, ObjectSchema, Schema } from "../machinery/schema/schema.ts";
import { recordings } from "../testing/recordings.ts";
import { typeNames, typeSchema } from "./index.ts";

interface Definition {
  readonly package?: string;
  readonly message?: string;
  readonly fields: Readonly<Record<string, Recorded>>;
  readonly inOpenAPI?: boolean;
  /** False where the recording found no struct behind the message: no tags are known. */
  readonly goStruct?: boolean;
  readonly mapType?: string;
  readonly required?: readonly string[];
}

interface Recorded {
  readonly json?: string;
  readonly number?: number;
  readonly type?: string;
  readonly repeated?: boolean;
  readonly map?: boolean;
  readonly inline?: boolean;
  readonly noProto?: boolean;
  readonly noGoTag?: boolean;
  readonly omitempty?: boolean;
  readonly omitzero?: boolean;
  readonly pointer?: boolean;
  readonly openapiType?: string;
  readonly format?: string;
  readonly ref?: string;
  readonly items?: { readonly ref?: string; readonly enum?: readonly string[] };
  readonly listType?: string;
  readonly listMapKeys?: readonly string[];
  readonly mapType?: string;
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  readonly required?: boolean;
  readonly default?: Json;
  readonly enum?: readonly string[];
}

const path = fileURLToPath(recordings("reference/facts/fields.json"));
const there = existsSync(path);
const definitions: Readonly<Record<string, Definition>> = there ? JSON.parse(readFileSync(path, "utf8")) : {};

const META = "k8s.io.apimachinery.pkg.apis.meta.v1";
const PROTO_TYPE: Readonly<Record<string, string>> = {
  string: "string",
  boolean: "bool",
  int32: "int32",
  int64: "int64",
  double: "double",
  bytes: "bytes",
  quantity: "k8s.io.apimachinery.pkg.api.resource.Quantity",
  intOrString: "k8s.io.apimachinery.pkg.util.intstr.IntOrString",
  time: `${META}.Time`,
  microTime: `${META}.MicroTime`,
  duration: `${META}.Duration`,
};
/** Messages that the schema knows by their form only. */
const FORMS: Readonly<Record<string, string>> = {
  "k8s.io.apimachinery.pkg.runtime.RawExtension": "raw",
  [`${META}.FieldsV1`]: "raw",
  "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSON": "raw",
  "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool": "either boolean",
  "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray": "either objects",
  "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray": "either strings",
  "k8s.io.api.authentication.v1.ExtraValue": "wrapped string",
  "k8s.io.api.authorization.v1.ExtraValue": "wrapped string",
  "k8s.io.api.certificates.v1.ExtraValue": "wrapped string",
  "k8s.io.api.certificates.v1beta1.ExtraValue": "wrapped string",
  [`${META}.Verbs`]: "wrapped string",
};

function protoType(schema: Schema): string {
  if (schema.type === "object") {
    const definition = definitions[schema.goType ?? ""];
    return `${definition?.package}.${definition?.message}`;
  }
  if (schema.type === "any") return schema.either ? `either ${schema.either.other.form}` : "raw";
  if (schema.type === "list") return schema.wrapped ? `wrapped ${protoType(schema.items)}` : protoType(schema.items);
  if (schema.type === "map") return protoType(schema.values);
  return PROTO_TYPE[schema.type] ?? schema.type;
}

function recordedType(type: string, home: string | undefined): string {
  const full = type.startsWith(".") ? type.slice(1) : /^[a-z]/.test(type) ? type : `${home}.${type}`;
  return FORMS[full] ?? full;
}

/** Number, type and shape in protobuf. */
const wire = {
  mine: ({ number, schema }: FieldSchema) => ({
    number,
    type: protoType(schema),
    repeated: schema.type === "list" && !schema.wrapped,
    map: schema.type === "map",
  }),
  recorded: (field: Recorded, home: string | undefined) => ({
    number: field.number,
    type: recordedType(field.type ?? "", home),
    repeated: field.repeated ?? false,
    map: field.map ?? false,
  }),
};

/** What Go's struct tags say. */
const tags = {
  mine: ({ omit, pointer, patchStrategy, patchMergeKey }: FieldSchema) => ({
    omit,
    pointer,
    patchStrategy,
    patchMergeKey,
  }),
  recorded: (field: Recorded) => ({
    omit: field.omitzero ? "zero" : field.omitempty ? "empty" : "never",
    pointer: field.pointer ?? false,
    patchStrategy: field.patchStrategy,
    patchMergeKey: field.patchMergeKey,
  }),
};

/** What OpenAPI says. */
const openapi = {
  mine: (field: FieldSchema) => ({
    required: field.required,
    default: shownDefault(field),
    enum: enumOf(field.schema),
    // Bytes are a list in Go, which OpenAPI remembers; as a scalar they are atomic anyway.
    listType: field.schema.type === "list" && !field.schema.implicit ? field.schema.listType : undefined,
    listMapKeys: field.schema.type === "list" && field.schema.keys.length > 0 ? field.schema.keys : undefined,
    atomicMap: field.schema.type === "map" && field.schema.atomic === true,
    ref: refOf(field.schema),
  }),
  recorded: (field: Recorded) => ({
    required: field.required ?? false,
    default: field.default,
    enum: field.enum ?? field.items?.enum,
    listType: field.format === "byte" ? undefined : field.listType,
    listMapKeys: field.listMapKeys,
    atomicMap: field.openapiType === "object" && field.mapType === "atomic",
    ref: objectRef(field.ref ?? field.items?.ref),
  }),
};

/**
 * OpenAPI shows zero values of its own making where Go always writes one; they are no defaults of the API and not in
 * the tables.
 */
function shownDefault({ schema, pointer, omit, default: value }: FieldSchema): Json | undefined {
  if (value !== undefined) return value;
  if (pointer) return undefined;
  if (schema.type === "object") return {};
  if (omit !== "never") return undefined;
  if (schema.type === "string") return "";
  if (schema.type === "boolean") return false;
  return schema.type === "int32" || schema.type === "int64" || schema.type === "double" ? 0 : undefined;
}

function enumOf(schema: Schema): readonly string[] | undefined {
  if (schema.type === "list") return enumOf(schema.items);
  return "enum" in schema ? schema.enum : undefined;
}

function refOf(schema: Schema): string | undefined {
  if (schema.type === "list") return refOf(schema.items);
  return schema.type === "object" ? schema.goType : undefined;
}

function objectRef(ref: string | undefined): string | undefined {
  return ref !== undefined && known.has(ref) ? ref : undefined;
}

const known = new Set(typeNames());
const names = typeNames();

describe.skipIf(!there)("the tables, compared with a real server", () => {
  it("have every type of its OpenAPI that is an object", () => {
    const notObjects = new Set(["Time", "MicroTime", "Quantity", "IntOrString", "RawExtension", "FieldsV1", "JSON"]);
    const missing = Object.entries(definitions)
      .filter(([name, { inOpenAPI }]) => inOpenAPI && !known.has(name))
      .map(([name]) => name.slice(name.lastIndexOf(".") + 1))
      .filter((name) => !notObjects.has(name) && !name.startsWith("JSONSchemaPropsOr"));
    expect(missing).toEqual([]);
  });

  it.each(names.filter((name) => name in definitions))("%s", (name) => {
    const definition = definitions[name];
    if (definition === undefined) throw new Error(`${name} was not recorded`);
    const schema = typeSchema(name);
    const seen = new Set<string>();
    for (const [protoName, recorded] of Object.entries(definition.fields)) {
      if (recorded.inline) {
        expectEmbedded(schema, recorded, name);
        continue;
      }
      // Without tags the name in protobuf is the one in JSON.
      const json = recorded.json ?? protoName;
      const mine = schema.fields.get(json);
      if (mine === undefined) throw new Error(`${name} has no field ${json}`);
      seen.add(json);
      const at = (what: object) => ({ at: `${name}.${json}`, ...what });
      if (!recorded.noProto) expect(at(wire.mine(mine))).toEqual(at(wire.recorded(recorded, definition.package)));
      const tagged = !recorded.noProto && !recorded.noGoTag && definition.goStruct !== false;
      if (tagged) expect(at(tags.mine(mine))).toEqual(at(tags.recorded(recorded)));
      if (definition.inOpenAPI) expect(at(openapi.mine(mine))).toEqual(at(openapi.recorded(recorded)));
    }
    const extra = [...schema.fields.values()].filter((field) => !seen.has(field.name));
    // Types that are not in OpenAPI were recorded from protobuf, which knows neither TypeMeta nor inlined fields by
    // name.
    expect(extra.filter((it) => definition.inOpenAPI || (it.number > 0 && !it.embedded))).toEqual([]);
    if (!definition.inOpenAPI) return;
    expect(schema.atomic === true).toBe(definition.mapType === "atomic");
    const required = [...schema.fields.values()].filter((field) => field.required).map((field) => field.name);
    expect(required.sort()).toEqual([...(definition.required ?? [])].sort());
  });
});

function expectEmbedded(schema: ObjectSchema, recorded: Recorded, name: string): void {
  const home = name.slice(0, name.lastIndexOf("."));
  // A type of another package is recorded with its whole name in protobuf.
  const { type = "" } = recorded;
  const inner = typeSchema(type.startsWith(".") ? type.replace(/^\.k8s\.io/, "io.k8s") : `${home}.${type}`);
  for (const field of inner.fields.values()) {
    expect(schema.fields.get(field.name)?.embedded).toEqual([recorded.number, ...(field.embedded ?? [])]);
    expect(schema.fields.get(field.name)?.number).toBe(field.number);
  }
}
