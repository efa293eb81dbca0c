import { describe, expect, it } from "vitest";
import type { FieldSchema, ObjectSchema, Schema } from "../machinery/schema/schema.ts";
import { typeNames, typeSchema, typeTable } from "./index.ts";

const ZOO = `
package org.zoo
use other org.other

enum Diet Meat|Fresh Fruit

Animal
 0 ... other.Named
 3 ... Limbs
 1 diet? Diet
 2 friends? []Animal
`;
const OTHER = `
package org.other

Named
 1 name! string
`;

function zoo(lines: string): ObjectSchema {
  return typeTable([`package org.zoo\nuse other org.other\n\n${lines}`, OTHER]).schema("org.zoo.Animal");
}

function only(line: string): FieldSchema | undefined {
  return zoo(`enum Diet Meat|Fresh Fruit\n\nAnimal\n${line}`).fields.values().next().value;
}

const plain = { required: false, pointer: false, omit: "never" };
const string = { type: "string" };
const implicitList = { type: "list", listType: "atomic", implicit: true, keys: [] };

describe("a field's line", () => {
  it.each<[string, string, object]>([
    ["a scalar", " 1 a string", { ...plain, name: "a", number: 1, schema: string }],
    ["omitempty", " 1 a? int32", { ...plain, name: "a", number: 1, schema: { type: "int32" }, omit: "empty" }],
    ["omitzero", " 1 a~ time", { ...plain, name: "a", number: 1, schema: { type: "time" }, omit: "zero" }],
    ["required", " 1 a! string", { ...plain, name: "a", number: 1, schema: string, required: true }],
    ["both", " 1 a?! string", { ...plain, name: "a", number: 1, schema: string, required: true, omit: "empty" }],
    ["a pointer", " 7 a *boolean", { ...plain, name: "a", number: 7, schema: { type: "boolean" }, pointer: true }],
    ["not in protobuf", " 0 a any", { ...plain, name: "a", number: 0, schema: { type: "any" } }],
    ["raw JSON", " 1 a raw", { ...plain, name: "a", number: 1, schema: { type: "any", number: 1 } }],
    ["an odd name", " 2 $ref-x string", { ...plain, name: "$ref-x", number: 2, schema: string }],
    ["a list", " 1 a []string", { ...plain, name: "a", number: 1, schema: { ...implicitList, items: string } }],
    [
      "a set",
      " 1 a []string list=set",
      { ...plain, name: "a", number: 1, schema: { type: "list", items: string, listType: "set", keys: [] } },
    ],
    [
      "keys and a merge key",
      " 1 a []string list=map:x,y patch=merge:x",
      {
        ...plain,
        name: "a",
        number: 1,
        schema: { type: "list", items: string, listType: "map", keys: ["x", "y"] },
        patchStrategy: "merge",
        patchMergeKey: "x",
      },
    ],
    [
      "two strategies without a key",
      " 1 a raw patch=merge,retainKeys",
      { ...plain, name: "a", number: 1, schema: { type: "any", number: 1 }, patchStrategy: "merge,retainKeys" },
    ],
    ["a map", " 1 a {}bytes", { ...plain, name: "a", number: 1, schema: { type: "map", values: { type: "bytes" } } }],
    [
      "an atomic map",
      " 1 a {}string map=atomic",
      { ...plain, name: "a", number: 1, schema: { type: "map", values: string, atomic: true } },
    ],
    ["a default", ' 1 a string ="TCP"', { ...plain, name: "a", number: 1, schema: string, default: "TCP" }],
    ["a zero default", " 1 a int32 =0", { ...plain, name: "a", number: 1, schema: { type: "int32" }, default: 0 }],
    [
      "an enum",
      " 1 a Diet",
      {
        ...plain,
        name: "a",
        number: 1,
        schema: { type: "string", goType: "org.zoo.Diet", enum: ["Meat", "Fresh Fruit"] },
      },
    ],
    [
      "another name in Go",
      " 1 uid? string go=UID",
      { ...plain, name: "uid", number: 1, schema: string, omit: "empty", goName: "UID" },
    ],
    [
      "keys of a type of their own",
      " 1 a {Diet}string",
      { ...plain, name: "a", number: 1, schema: { type: "map", keyType: "org.zoo.Diet", values: string } },
    ],
  ])("%s", (_, line, want) => {
    expect(only(line)).toEqual(want);
  });

  it.each([
    ["a word too few", " 1 a"],
    ["no number", " a string"],
    ["an unknown type", " 1 a Beast"],
    ["an unknown package", " 1 a forest.Tree"],
    ["an unknown list type", " 1 a []string list=bag"],
  ])("is refused with %s", (_, line) => {
    expect(() => only(line)).toThrow(/not understood|no type|no fact table|no list type/);
  });
});

describe("a type's lines", () => {
  it("put an embedded struct's fields in place, with the numbers and names of the structs around them", () => {
    const animal = zoo("Animal\n 1 ... Body\n 2 a string\n\nBody\n 3 ... Limbs\n 4 b string\n\nLimbs\n 5 c string");
    expect([...animal.fields.values()].map((it) => [it.name, it.number, it.embedded, it.goParents])).toEqual([
      ["c", 5, [1, 3], ["Body", "Limbs"]],
      ["b", 4, [1], ["Body"]],
      ["a", 2, undefined, undefined],
    ]);
  });

  it("give number 0 to fields that the outer message does not carry", () => {
    expect(zoo("Animal\n 0 ... other.Named").fields.get("name")).toMatchObject({
      number: 0,
      required: true,
      goParents: ["Named"],
    });
  });

  it("may refer to themselves", () => {
    const animal = zoo("Animal\n 1 parent *Animal\n 2 young []Animal");
    expect(animal.fields.get("parent")?.schema).toBe(animal);
    expect(animal.fields.get("young")?.schema).toMatchObject({ items: animal });
  });

  it("may say that they are atomic, and a field may say otherwise", () => {
    const animal = zoo("Animal\n 1 a Cage\n 2 b Cage map=granular\n\nCage atomic\n 1 c string");
    const [a, b] = [animal.fields.get("a")?.schema, animal.fields.get("b")?.schema] as ObjectSchema[];
    expect([a?.atomic, b?.atomic]).toEqual([true, undefined]);
    expect(b?.fields).toBe(a?.fields);
  });

  it("may be another type under a new name, a list in a message, or one of two forms", () => {
    const animal = zoo(
      "Animal\n 1 a Alias\n 2 b Names\n 3 c Either\n\nAlias same other.Named\n\nNames list string\n\nEither either\n 1 boolean\n 2 Animal",
    );
    expect(animal.fields.get("a")?.schema).toMatchObject({ goType: "org.zoo.Alias" });
    expect(animal.fields.get("b")?.schema).toEqual({
      ...implicitList,
      items: string,
      goType: "org.zoo.Names",
      wrapped: true,
    });
    expect(animal.fields.get("c")?.schema).toEqual({
      type: "any",
      either: { object: { number: 2, schema: animal }, other: { number: 1, form: "boolean" } },
    });
  });

  it("keep the name that Go gives to a scalar, a list or a map", () => {
    const animal = zoo(
      "alias Sound string\nalias Sounds []Sound\nalias Weights {Sound}quantity\n\nAnimal\n 1 a Sound\n 2 b Sounds list=set\n 3 c Weights",
    );
    const sound = { type: "string", goType: "org.zoo.Sound" };
    expect([...animal.fields.values()].map((it) => it.schema)).toEqual([
      sound,
      { type: "list", items: sound, listType: "set", keys: [], goType: "org.zoo.Sounds" },
      { type: "map", keyType: "org.zoo.Sound", values: { type: "quantity" }, goType: "org.zoo.Weights" },
    ]);
  });

  it("are not read before their fields are asked for", () => {
    const animal = typeTable([ZOO, OTHER]).schema("org.zoo.Animal");
    expect(animal.goType).toBe("org.zoo.Animal");
    expect(() => animal.fields).toThrow("no type org.zoo.Limbs");
  });
});

describe("the built-in types", () => {
  const field = (type: string, name: string) => typeSchema(type).fields.get(name);

  it("start with kind and apiVersion, as Go writes them", () => {
    expect([...typeSchema("io.k8s.api.apps.v1.Deployment").fields.values()].map((it) => [it.name, it.number])).toEqual([
      ["kind", 0],
      ["apiVersion", 0],
      ["metadata", 1],
      ["spec", 2],
      ["status", 3],
    ]);
  });

  it("know how server-side apply and patches identify a container's port", () => {
    const ports = field("io.k8s.api.core.v1.Container", "ports");
    expect(ports).toMatchObject({ number: 6, omit: "empty", patchStrategy: "merge", patchMergeKey: "containerPort" });
    expect(ports?.schema).toMatchObject({ type: "list", listType: "map", keys: ["containerPort", "protocol"] });
    expect(field("io.k8s.api.core.v1.ContainerPort", "protocol")).toMatchObject({
      default: "TCP",
      schema: { type: "string", enum: ["SCTP", "TCP", "UDP"] },
    });
  });

  it("inline a volume's source, which protobuf nests", () => {
    expect(field("io.k8s.api.core.v1.Volume", "configMap")).toMatchObject({ number: 19, embedded: [2], pointer: true });
  });

  it("own a volume's claimRef field by field, though references are atomic elsewhere", () => {
    const claimRef = field("io.k8s.api.core.v1.PersistentVolumeSpec", "claimRef")?.schema as ObjectSchema;
    expect([claimRef.goType, claimRef.atomic]).toEqual(["io.k8s.api.core.v1.ObjectReference", undefined]);
    expect(typeSchema("io.k8s.api.core.v1.ObjectReference").atomic).toBe(true);
  });

  it("know the special scalars", () => {
    expect(field("io.k8s.api.core.v1.ResourceRequirements", "limits")?.schema).toEqual({
      type: "map",
      goType: "io.k8s.api.core.v1.ResourceList",
      keyType: "io.k8s.api.core.v1.ResourceName",
      values: { type: "quantity" },
    });
    expect(field("io.k8s.api.core.v1.ServicePort", "targetPort")?.schema.type).toBe("intOrString");
    expect(field("io.k8s.api.coordination.v1.LeaseSpec", "renewTime")?.schema.type).toBe("microTime");
    expect(field("io.k8s.api.core.v1.Secret", "data")?.schema).toEqual({ type: "map", values: { type: "bytes" } });
    expect(field("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", "creationTimestamp")).toMatchObject({
      schema: { type: "time" },
      omit: "zero",
    });
    expect(field("io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry", "fieldsV1")?.schema).toEqual({
      type: "any",
      number: 1,
    });
  });

  it("describe JSON schemas, which contain themselves", () => {
    const name = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";
    const props = typeSchema(name);
    expect(field(name, "not")?.schema).toBe(props);
    const forms = ["additionalProperties", "items"].map((it) => field(name, it)?.schema);
    expect(forms).toEqual([
      { type: "any", either: { object: { number: 2, schema: props }, other: { number: 1, form: "boolean" } } },
      { type: "any", either: { object: { number: 1, schema: props }, other: { number: 2, form: "objects" } } },
    ]);
    expect(field(name, "dependencies")?.schema).toMatchObject({ values: { either: { other: { form: "strings" } } } });
  });

  it("refuse a name that is not theirs", () => {
    expect(() => typeSchema("io.k8s.api.core.v1.Pdo")).toThrow("no type io.k8s.api.core.v1.Pdo");
    expect(() => typeSchema("io.k8s.api.core.v9.Pod")).toThrow("no fact table for the package io.k8s.api.core.v9");
    expect(() => typeSchema("io.k8s.api.authentication.v1.ExtraValue")).toThrow("not an object");
  });

  it("refer only to types that are there, and use no protobuf number twice in a message", () => {
    const reached = new Set<Schema>();
    for (const name of typeNames()) visit(typeSchema(name), reached);
    expect(reached.size).toBeGreaterThan(600);
    for (const name of typeNames()) {
      const numbers = [...typeSchema(name).fields.values()]
        .filter((it) => it.number > 0)
        .map((it) => [...(it.embedded ?? []), it.number].join("."));
      expect([name, new Set(numbers).size]).toEqual([name, numbers.length]);
    }
  });

  it("keep the keys of their lists among the items' fields", () => {
    for (const name of typeNames()) {
      for (const { schema, patchMergeKey, name: at } of typeSchema(name).fields.values()) {
        if (schema.type !== "list" || schema.items.type !== "object") continue;
        const items = schema.items;
        const missing = [...schema.keys, ...(patchMergeKey ? [patchMergeKey] : [])].filter(
          (key) => !items.fields.has(key),
        );
        expect([`${name}.${at}`, missing]).toEqual([`${name}.${at}`, []]);
      }
    }
  });
});

/** Everything that can be reached, each once. */
function visit(schema: Schema, reached: Set<Schema>): void {
  if (reached.has(schema)) return;
  reached.add(schema);
  if (schema.type === "list") visit(schema.items, reached);
  else if (schema.type === "map") visit(schema.values, reached);
  else if (schema.type === "any" && schema.either) visit(schema.either.object.schema, reached);
  else if (schema.type === "object") for (const field of schema.fields.values()) visit(field.schema, reached);
}
