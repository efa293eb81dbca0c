import { existsSync, readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { typeNames, typeSchema } from "../../facts/index.ts";
import { recordings } from "../../testing/recordings.ts";
import type { Json, JsonObject } from "../json/json.ts";
import { decodeBase64 } from "../scalars/base64.ts";
import { decode } from "../schema/decode.ts";
import type { ObjectSchema, Schema } from "../schema/schema.ts";
import { decodeProtobuf, encodeProtobuf } from "./codec.ts";
import { decodeEnvelope, encodeEnvelope, isEnvelope } from "./envelope.ts";
import { ProtobufError, ProtobufReader } from "./reader.ts";
import { ProtobufWriter } from "./writer.ts";

describe("the wire format", () => {
  it.each([
    [0, [0]],
    [127, [127]],
    [128, [128, 1]],
    [300, [172, 2]],
    [2 ** 40, [128, 128, 128, 128, 128, 32]],
    [-1, [255, 255, 255, 255, 255, 255, 255, 255, 255, 1]],
  ])("varint %d", (value, bytes) => {
    const writer = new ProtobufWriter(1);
    writer.varint(value);
    expect([...writer.finish()]).toEqual(bytes);
    expect(new ProtobufReader(Uint8Array.from(bytes)).varint()).toBe(value);
  });

  it("numbers and texts come back as they were", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.string({ unit: "binary" }), fc.double(), (number, text, double) => {
        const writer = new ProtobufWriter(4);
        writer.double(double);
        writer.string(text);
        writer.varint(number);
        const reader = new ProtobufReader(writer.finish());
        expect([reader.varint(), reader.string(), reader.double(), reader.done]).toEqual([
          number,
          text.toWellFormed(),
          double,
          true,
        ]);
      }),
    );
  });

  it("what is cut off is an error", () => {
    expect(() => new ProtobufReader(Uint8Array.of(128)).varint()).toThrow("unexpected EOF");
    expect(() => new ProtobufReader(Uint8Array.of(5, 1)).bytes()).toThrow("unexpected EOF");
    expect(() => new ProtobufReader(new Uint8Array(11).fill(255)).varint()).toThrow("proto: integer overflow");
    expect(() => decodeProtobuf(typeSchema("io.k8s.api.core.v1.Pod"), Uint8Array.of(0x0a, 5, 1))).toThrow(
      "unexpected EOF",
    );
    // metadata.managedFields[0].fieldsV1.Raw = "a"
    const noJson = Uint8Array.of(0x0a, 8, 0x8a, 1, 5, 0x3a, 3, 0x0a, 1, 0x61);
    expect(() => decodeProtobuf(typeSchema("io.k8s.api.core.v1.Pod"), noJson)).toThrow(
      new ProtobufError("invalid character 'a' looking for beginning of value"),
    );
    // spec.overhead["c"] = "x"
    const noQuantity = Uint8Array.of(0x12, 11, 0x82, 2, 8, 0x0a, 1, 0x63, 0x12, 3, 0x0a, 1, 0x78);
    expect(() => decodeProtobuf(typeSchema("io.k8s.api.core.v1.Pod"), noQuantity)).toThrow(ProtobufError);
    expect(() => decodeProtobuf(typeSchema("io.k8s.api.core.v1.Pod"), Uint8Array.of(0xff, 7))).toThrow(
      "proto: illegal wireType 7",
    );
  });
});

describe("the envelope", () => {
  it("names the kind and holds the object", () => {
    const bytes = encodeEnvelope({ apiVersion: "v1", kind: "Pod", raw: Uint8Array.of(1, 2) });
    expect([...bytes.subarray(0, 4)]).toEqual([0x6b, 0x38, 0x73, 0]);
    expect(isEnvelope(bytes)).toBe(true);
    expect(decodeEnvelope(bytes)).toEqual({
      apiVersion: "v1",
      kind: "Pod",
      raw: Uint8Array.of(1, 2),
      contentEncoding: "",
      contentType: "",
    });
  });

  it("is asked for", () => {
    expect(() => decodeEnvelope(Uint8Array.of(0x7b))).toThrow("provided data does not appear to be a protobuf message");
  });
});

describe("objects", () => {
  it("pass over fields that the schema does not have", () => {
    const schema = typeSchema("io.k8s.api.core.v1.ConfigMap");
    const known = encodeProtobuf(schema, { metadata: { name: "a" }, data: { k: "v" } });
    const more = Uint8Array.from([...known, 0xf8, 0x07, 1, 0xfa, 0x07, 2, 9, 9]);
    expect(decodeProtobuf(schema, more)).toEqual({ metadata: { name: "a" }, data: { k: "v" } });
  });

  it("are encoded the same, whatever the order of their keys", () => {
    const schema = typeSchema("io.k8s.api.core.v1.ConfigMap");
    const one = encodeProtobuf(schema, { data: { b: "1", a: "2" }, metadata: { namespace: "n", name: "x" } });
    const other = encodeProtobuf(schema, { metadata: { name: "x", namespace: "n" }, data: { a: "2", b: "1" } });
    expect(one).toEqual(other);
  });

  it("of every built-in type come back as they were", () => {
    const names = typeNames().filter((name) => hasNumbers(typeSchema(name)));
    expect(names.length).toBeGreaterThan(400);
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.infiniteStream(fc.nat()), (name, numbers) => {
        const schema = typeSchema(name);
        const draw = () => numbers.next().value as number;
        const object = decode(schema, anyValue(schema, draw, 4)).value as JsonObject;
        const back = decodeProtobuf(schema, encodeProtobuf(schema, object));
        expect(JSON.stringify(back)).toBe(JSON.stringify(object));
      }),
      { numRuns: 300 },
    );
  });
});

const folder = recordings("reference/protobuf/");

describe.skipIf(!existsSync(folder))("pairs of a real server", () => {
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const pairs = files.flatMap((file) => {
    const pair = JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Pair;
    const base64 = pair.protobufBase64 ?? pair.bodyBase64;
    if (pair.json === undefined || base64 === undefined) return [];
    const { json } = pair;
    const bytes = decodeBase64(base64);
    // Some were answered in JSON all the same, one with an error.
    if (!isEnvelope(bytes) || decodeEnvelope(bytes).kind !== json.kind) return [];
    const schema = builtIn(String(json.apiVersion), String(json.kind));
    return schema === undefined ? [] : [{ file, json, schema, bytes }];
  });

  it("are many", () => expect(pairs.length).toBeGreaterThan(30));

  it.each(pairs)("$file", ({ file, json, schema, bytes }) => {
    const envelope = decodeEnvelope(bytes);
    const decoded = { kind: envelope.kind, apiVersion: envelope.apiVersion, ...decodeProtobuf(schema, envelope.raw) };
    // Items of such a list name their kind in JSON, which their message has no place for.
    const want = file.startsWith("PodPartialMetadata") ? withoutItemKinds(json) : json;
    expect(JSON.stringify(decoded)).toBe(JSON.stringify(want));
    expect(encodeEnvelope({ ...envelope, raw: encodeProtobuf(schema, decoded) })).toEqual(bytes);
  });
});

interface Pair {
  readonly json?: JsonObject;
  readonly protobufBase64?: string;
  readonly bodyBase64?: string;
}

function builtIn(apiVersion: string, kind: string): ObjectSchema | undefined {
  const [group = "", version] = apiVersion.includes("/") ? apiVersion.split("/") : ["core", apiVersion];
  const tail = `.${version}.${kind}`;
  const names = typeNames().filter((name) => name.endsWith(tail));
  const name = names.find((candidate) => candidate.includes(`.${group.split(".")[0]}.`)) ?? names[0];
  return name === undefined ? undefined : typeSchema(name);
}

function withoutItemKinds(list: JsonObject): JsonObject {
  const items = (list.items as readonly JsonObject[]).map(({ kind: _, apiVersion: __, ...item }) => item);
  return { ...list, items };
}

/** Types that protobuf does not carry have no numbers. */
function hasNumbers(schema: Schema, seen = new Set<Schema>()): boolean {
  if (seen.has(schema)) return true;
  seen.add(schema);
  if (schema.type === "list") return hasNumbers(schema.items, seen);
  if (schema.type === "map") return hasNumbers(schema.values, seen);
  if (schema.type === "any") return schema.number !== undefined || schema.either !== undefined;
  if (schema.type !== "object") return true;
  return [...schema.fields.values()].every(
    ({ number, name, schema: inner }) => (number > 0 || typeMeta.has(name)) && hasNumbers(inner, seen),
  );
}

const typeMeta = new Set(["kind", "apiVersion"]);

/**
 * Some value of the type. Fields without a number are left out; lists and maps have something in them, since protobuf
 * does not tell empty from absent.
 */
function anyValue(schema: Schema, draw: () => number, depth: number): Json {
  switch (schema.type) {
    case "object": {
      const fields = [...schema.fields.values()].filter(({ number }) => number > 0 && depth > 0 && draw() % 3 === 0);
      return Object.fromEntries(fields.map((field) => [field.name, anyValue(field.schema, draw, depth - 1)]));
    }
    case "list":
      return Array.from({ length: 1 + (draw() % 2) }, () => anyValue(schema.items, draw, depth - 1));
    case "map":
      return Object.fromEntries(
        Array.from({ length: 1 + (draw() % 2) }, () => [`k${draw() % 100}`, anyValue(schema.values, draw, depth - 1)]),
      );
    case "any":
      if (schema.either === undefined) return { any: [draw(), "x", null] };
      return draw() % 2 === 0
        ? anyValue(schema.either.object.schema, draw, depth - 1)
        : otherForm(schema.either.other.form);
    case "string":
      return ["", "text", "grün"][draw() % 3] ?? "";
    case "boolean":
      return draw() % 2 === 0;
    case "int32":
      return (draw() % 2000) - 1000;
    case "int64":
      return (draw() % 2 === 0 ? 1 : -1) * draw() * 1024;
    case "double":
      return draw() / 8;
    case "bytes":
      return ["", "YQ==", "AAE="][draw() % 3] ?? "";
    case "quantity":
      return ["1500m", "1Gi", "0", "2e3"][draw() % 4] ?? "0";
    case "intOrString":
      return draw() % 2 === 0 ? (draw() % 200) - 100 : "25%";
    case "time":
      return "2024-02-29T12:00:00Z";
    case "microTime":
      return "2024-02-29T12:00:00.000007Z";
    case "duration":
      return "-1h30m0.5s";
  }
}

function otherForm(form: "boolean" | "objects" | "strings"): Json {
  return form === "boolean" ? true : form === "strings" ? ["a", "b"] : [{ type: "string" }];
}
