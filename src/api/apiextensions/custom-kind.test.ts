import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../machinery/json/json.ts";
import type { KubeObject } from "../machinery/schema/object.ts";
import { create, update } from "../testing/pure-server.ts";
import { compileCustomKind, convertNone } from "./index.ts";
import {
  createFaults,
  definition,
  object,
  preserving,
  statusFaults,
  thing,
  thingOf,
  updateFaults,
  version,
} from "./testing/definitions.ts";

const text = { type: "string" };
const whole = { type: "integer" };
const keyed = (items: object) => ({
  type: "array",
  items: items as Json,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["k"],
});

describe("what a definition makes of a kind", () => {
  it("names, scope, verbs, subresources", () => {
    const made = definition(object({}), {
      subresources: {
        status: {},
        scale: { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n", labelSelectorPath: ".status.s" },
      },
    });
    const kind = compileCustomKind(
      {
        ...made,
        status: {
          acceptedNames: { plural: "things", singular: "thing", kind: "Thing", listKind: "Things", shortNames: ["t"] },
        },
      },
      "v1",
    );
    expect(kind).toMatchObject({
      group: "example.com",
      version: "v1",
      kind: "Thing",
      listKind: "Things",
      scope: "Namespaced",
      names: { plural: "things", singular: "thing", shortNames: ["t"] },
      generation: "spec",
      update: { allowUnconditional: false },
    });
    expect(kind.subresources?.scale).toEqual({ replicas: "spec.n", statusReplicas: "status.n", selector: "status.s" });
    expect(kind.served.map(({ name, group, kind: answer }) => [name, group, answer])).toEqual([
      ["status", "example.com", "Thing"],
      ["scale", "autoscaling", "Scale"],
    ]);
  });

  it("keeps the status apart only if it is served apart", () => {
    const status = { n: 1 };
    const [apart, together] = [thing(object({}), { subresources: { status: {} } }), thing(object({}))];
    expect(create(apart, thingOf({}, { status })).object).not.toHaveProperty("status");
    expect(create(together, thingOf({}, { status })).object).toHaveProperty("status", status);
    const changed = together.generation as { changed(next: object, old: object): boolean };
    expect(changed.changed(thingOf({}, { status }), thingOf({}))).toBe(true);
    expect(changed.changed({ ...thingOf({}), metadata: { name: "b" } }, thingOf({}))).toBe(false);
  });

  it("says what replaces a deprecated version", () => {
    const schema = object({});
    const versions = [
      version(schema, { name: "v1beta1", storage: false, deprecated: true }),
      version(schema, { name: "v1" }),
      version(schema, { name: "v2alpha1", storage: false }),
    ];
    const made = definition(schema, {}, { versions });
    expect(compileCustomKind(made, "v1beta1").deprecated).toBe(
      "example.com/v1beta1 Thing is deprecated; use example.com/v1 Thing",
    );
    expect(compileCustomKind(made, "v1").deprecated).toBeUndefined();
    const own = definition(schema, { deprecated: true, deprecationWarning: "stop" });
    expect(compileCustomKind(own, "v1").deprecated).toBe("stop");
  });

  it("reads selectable fields as text", () => {
    const kind = thing(object({ color: text, size: whole, on: { type: "boolean" } }), {
      selectableFields: [{ jsonPath: ".spec.color" }, { jsonPath: ".spec.size" }, { jsonPath: ".spec.on" }],
    });
    const fields = kind.selectableFields;
    expect(fields?.names).toEqual(["spec.color", "spec.size", "spec.on"]);
    const one = thingOf({ color: "red", size: 3 }) as unknown as KubeObject;
    expect(fields?.names.map((name) => fields.valueOf(one, name))).toEqual(["red", "3", ""]);
  });

  it("converts by name alone", () => {
    const one = thingOf({}) as unknown as KubeObject;
    expect(convertNone(one, "example.com/v1")).toBe(one);
    expect(convertNone(one, "example.com/v2")).toEqual({ ...one, apiVersion: "example.com/v2" });
  });

  it("warns of finalizers that others could use too", () => {
    const kind = thing(object({}));
    const warn = (finalizers: readonly string[], old: readonly string[] = []) =>
      kind.warnings?.({ metadata: { finalizers } }, { metadata: { finalizers: old } });
    expect(warn(["orphan", "example.com/x"])).toEqual([]);
    expect(warn(["x"], ["x"])).toEqual([]);
    expect(warn(["b.c", "a"])).toEqual([
      'metadata.finalizers: "a": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
      'metadata.finalizers: "b.c": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers',
    ]);
  });
});

describe("columns", () => {
  const now = Date.parse("2026-01-01T00:01:00Z");
  const one = thingOf(
    {
      n: 3,
      f: 1.5,
      on: true,
      list: [1, 2],
      conditions: [{ type: "Ready", status: "True" }],
      when: "2026-01-01T00:00:00Z",
    },
    { metadata: { name: "a", creationTimestamp: "2026-01-01T00:00:00Z" } },
  ) as unknown as KubeObject;
  it.each([
    [".spec.n", "integer", 3],
    [".spec.f", "integer", 1],
    [".spec.f", "number", 1.5],
    [".spec.on", "boolean", true],
    [".spec.on", "string", "true"],
    [".spec.list", "string", "[1,2]"],
    [".spec.list[0]", "integer", 1],
    [".spec.list[5]", "integer", null],
    [".spec.none", "string", null],
    [".spec.n", "date", null],
    [".spec.when", "date", "60s"],
    [".metadata.name", "date", "<invalid>"],
    ['.spec.conditions[?(@.type=="Ready")].status', "string", "True"],
  ])("%s as %s", (jsonPath, type, want) => {
    const kind = thing(preserving, { additionalPrinterColumns: [{ name: "X", type, jsonPath }] });
    expect(kind.columns?.map((column) => column.cell(one, now))).toEqual([want]);
  });

  it("has an age if nothing is asked for", () => {
    const [age] = thing(preserving).columns ?? [];
    expect([age?.name, age?.type, age?.cell(one, now)]).toEqual(["Age", "date", "60s"]);
  });

  it("ends at a column that is no path", () => {
    const columns = [
      { name: "A", type: "string", jsonPath: ".a" },
      { name: "B", type: "string", jsonPath: ".b[" },
      { name: "C", type: "string", jsonPath: ".c" },
    ];
    expect(thing(preserving, { additionalPrinterColumns: columns }).columns?.map(({ name }) => name)).toEqual(["A"]);
  });
});

describe("an object must fit", () => {
  const set = object({ l: { type: "array", items: text, "x-kubernetes-list-type": "set" } });
  const map = object({ l: keyed(object({ k: text, v: whole })) });
  const embedded = object({ e: { ...preserving, "x-kubernetes-embedded-resource": true } });
  it.each([
    ["sets hold nothing twice", set, { l: ["a", "b", "a", "a"] }, ['spec.l[2]: Duplicate value: "a"']],
    ["map lists no keys", map, { l: [{ k: "a" }, { k: "b" }, { k: "a" }] }, ['spec.l[2]: Duplicate value: {"k":"a"}']],
    ["nor none", map, { l: [{}, {}] }, ["spec.l[1]: Duplicate value: {}"]],
    [
      "embedded objects say what they are",
      embedded,
      { e: { kind: "" } },
      ["spec.e.apiVersion: Required value", 'spec.e.kind: Invalid value: "": must not be empty'],
    ],
    [
      "and have metadata",
      embedded,
      { e: { apiVersion: "v1", kind: "Pod", metadata: { name: "a/b" } } },
      ["spec.e.metadata.name: Invalid value: \"a/b\": may not contain '/'"],
    ],
    [
      "apiVersions have one slash",
      embedded,
      { e: { apiVersion: "a/b/c", kind: "Pod" } },
      ['spec.e.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
    ],
  ] as const)("%s", (_, schema, spec, want) => {
    expect(createFaults(thing(schema), spec)).toEqual(want);
  });

  const scaled = thing(preserving, {
    subresources: {
      scale: { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n", labelSelectorPath: ".status.s" },
    },
  });
  it.each<readonly [Json, JsonObject, readonly string[]]>([
    [{ n: 3 }, {}, []],
    [{ n: -1 }, {}, [".spec.n: Invalid value: -1: should be a non-negative integer"]],
    [{ n: 2 ** 31 }, {}, [".spec.n: Invalid value: 2147483648: should be less than or equal to 2147483647"]],
    [{ n: "3" }, {}, [".spec.n: Invalid value: 0: .spec.n accessor error: 3 is of the type string, expected int64"]],
    [
      {},
      { status: { n: -1, s: 5 } },
      [
        ".status.n: Invalid value: -1: should be a non-negative integer",
        '.status.s: Invalid value: "": .status.s accessor error: 5 is of the type int64, expected string',
      ],
    ],
  ])("replicas are a number: %j %j", (spec, more, want) => {
    expect(createFaults(scaled, spec, more)).toEqual(want);
  });
});

describe("an update forgives what was wrong before", () => {
  const strict = object({
    a: { ...text, maxLength: 1 },
    b: { ...text, maxLength: 1 },
    o: object({ x: { ...whole, maximum: 1 } }, { required: ["y"] }),
    m: { type: "object", additionalProperties: { ...whole, maximum: 1 } },
    l: { type: "array", items: { ...whole, maximum: 1 } },
    k: keyed(object({ k: text, v: { ...whole, maximum: 1 } })),
    s: { type: "array", items: text, "x-kubernetes-list-type": "set" },
    any: { ...whole, anyOf: [{ maximum: 1 }] },
  });
  const kind = thing(strict, { subresources: { status: {} } });
  const long = (path: string) => `spec.${path}: Too long: may not be more than 1 bytes`;
  const big = (path: string) =>
    `spec.${path}: Invalid value: 9: spec.${path} in body should be less than or equal to 1`;
  it.each<readonly [string, Json, Json, readonly string[]]>([
    ["a field that stays", { a: "long" }, { a: "long", b: "x" }, []],
    ["not one that changes", { a: "long" }, { a: "other", b: "x" }, [long("a")]],
    ["not one that is new", {}, { a: "long" }, [long("a")]],
    ["inside of what changes", { o: { x: 9 } }, { o: { x: 9, y: 1 } }, []],
    ["what is required, if all around it stays", { o: { x: 9 } }, { o: { x: 9 }, b: "x" }, []],
    ["an entry of a map", { m: { a: 9 } }, { m: { a: 9, b: 1 } }, []],
    ["a list that stays", { l: [9] }, { l: [9], b: "x" }, []],
    ["not an item of a list that changes", { l: [9] }, { l: [9, 1] }, [big("l[0]")]],
    [
      "an item that is found by its keys",
      { k: [{ k: "a", v: 9 }] },
      {
        k: [
          { k: "b", v: 1 },
          { k: "a", v: 9 },
        ],
      },
      [],
    ],
    [
      "not one that changes",
      { k: [{ k: "a", v: 9 }] },
      { k: [{ k: "a", v: 8 }] },
      ["spec.k[0].v: Invalid value: 8: spec.k[0].v in body should be less than or equal to 1"],
    ],
    ["a set that held something twice", { s: ["a", "a"] }, { s: ["b", "b"] }, []],
    ["alternatives as a whole", { any: 9 }, { any: 9, b: "x" }, []],
  ])("%s", (_, before, after, want) => {
    expect(updateFaults(kind, before, after)).toEqual(want);
  });

  it("also in the status", () => {
    const status = object({ a: { ...text, maxLength: 1 }, b: text });
    const made = definition(object({ spec: preserving, status }), { subresources: { status: {} } });
    const written = compileCustomKind(made, "v1");
    expect(statusFaults(written, {}, { a: "long" }, { a: "long", b: "x" })).toEqual([]);
    expect(statusFaults(written, {}, { a: "long" }, { a: "other" })).toEqual([
      "status.a: Too long: may not be more than 1 bytes",
    ]);
  });

  it("never what an object says it is", () => {
    const made = definition(object({ kind: { ...text, maxLength: 1 }, spec: preserving }));
    const named = compileCustomKind(made, "v1");
    const old = create(named, thingOf({})).object;
    expect(update(named, thingOf({ a: 1 }), old).errors.map(({ field }) => field)).toEqual(["kind"]);
  });
});
