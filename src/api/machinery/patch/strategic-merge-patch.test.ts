import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toStatus } from "../errors/status.ts";
import type { JsonObject } from "../json/json.ts";
import type { FieldSchema, ObjectSchema, Schema } from "../schema/schema.ts";
import { applyStrategicMergePatch, spentStrategicMergePatch } from "./strategic-merge-patch.ts";

const text: Schema = { type: "string" };

function object(name: string, fields: readonly FieldSchema[]): ObjectSchema {
  return {
    type: "object",
    goType: `io.k8s.api.core.v1.${name}`,
    fields: new Map(fields.map((field) => [field.name, field])),
  };
}

function field(name: string, schema: Schema, more: Partial<FieldSchema> = {}): FieldSchema {
  return { name, number: 1, schema, required: false, pointer: false, omit: "empty", ...more };
}

function list(items: Schema): Schema {
  return { type: "list", items, listType: "atomic", keys: [] };
}

const env = object("EnvVar", [field("name", text), field("value", text)]);
const port = object("Port", [field("port", { type: "int32" }), field("protocol", text), field("target", text)]);
const container = object("Container", [
  field("name", text),
  field("image", text),
  field("args", list(text)),
  field("env", list(env), { patchStrategy: "merge", patchMergeKey: "name" }),
  field("ports", list(port), { patchStrategy: "merge", patchMergeKey: "port" }),
]);
const spec = object("Spec", [
  field("containers", list(container), { patchStrategy: "merge", patchMergeKey: "name" }),
  field("finalizers", list(text), { patchStrategy: "merge" }),
  field("atomic", list(container)),
  field("labels", { type: "map", values: text }),
  field("strategy", object("Strategy", [field("type", text), field("rolling", object("Rolling", []))]), {
    patchStrategy: "retainKeys",
  }),
  field("whole", object("Whole", [field("a", text), field("b", text)]), { patchStrategy: "replace" }),
  field(
    "volumes",
    list(
      object("Volume", [field("name", text), field("emptyDir", object("E", [])), field("configMap", object("C", []))]),
    ),
    {
      patchStrategy: "merge,retainKeys",
      patchMergeKey: "name",
    },
  ),
]);

const c = {
  name: "c",
  image: "c:1",
  args: ["x"],
  env: [
    { name: "A", value: "1" },
    { name: "B", value: "2" },
  ],
};
const side = { name: "side", image: "s:1" };

describe("strategic merge patches", () => {
  it.each<[string, JsonObject, JsonObject, JsonObject]>([
    ["set and remove", { labels: { a: "1", b: "2" } }, { labels: { a: null, c: "3" } }, { labels: { b: "2", c: "3" } }],
    [
      "merge by key, the patch's items first",
      { containers: [c, side] },
      { containers: [{ name: "side", image: "s:2" }] },
      { containers: [c, { name: "side", image: "s:2" }] },
    ],
    [
      "new items come first",
      { containers: [c] },
      { containers: [{ name: "n", image: "n" }] },
      { containers: [{ name: "n", image: "n" }, c] },
    ],
    [
      "lists within lists",
      { containers: [c] },
      {
        containers: [
          {
            name: "c",
            env: [
              { name: "A", value: "9" },
              { name: "C", value: "3" },
            ],
          },
        ],
      },
      {
        containers: [
          {
            ...c,
            env: [
              { name: "A", value: "9" },
              { name: "C", value: "3" },
              { name: "B", value: "2" },
            ],
          },
        ],
      },
    ],
    [
      "atomic lists are replaced",
      { containers: [c], atomic: [c] },
      { atomic: [side] },
      { containers: [c], atomic: [side] },
    ],
    ["a list to null", { containers: [c], labels: {} }, { containers: null }, { labels: {} }],
    [
      "delete an item",
      { containers: [c, side] },
      { containers: [{ name: "side", $patch: "delete" }] },
      { containers: [c] },
    ],
    [
      "replace a list",
      { containers: [c, side] },
      { containers: [{ $patch: "replace" }, { name: "n" }] },
      { containers: [{ name: "n" }] },
    ],
    [
      "replace an object",
      { strategy: { type: "a", rolling: {} } },
      { strategy: { $patch: "replace", type: "b" } },
      { strategy: { type: "b" } },
    ],
    ["empty an object", { labels: { a: "1" } }, { labels: { $patch: "delete" } }, { labels: {} }],
    ["objects that are replaced by their type", { whole: { a: "1" } }, { whole: { b: "2" } }, { whole: { b: "2" } }],
    [
      "retain keys",
      { strategy: { type: "a", rolling: {} } },
      { strategy: { $retainKeys: ["type"], type: "b" } },
      { strategy: { type: "b" } },
    ],
    [
      "retain keys of an item",
      { volumes: [{ name: "v", emptyDir: {} }] },
      { volumes: [{ name: "v", $retainKeys: ["name", "configMap"], configMap: {} }] },
      { volumes: [{ name: "v", configMap: {} }] },
    ],
    ["sets of scalars", { finalizers: ["a", "b"] }, { finalizers: ["c", "a"] }, { finalizers: ["c", "a", "b"] }],
    [
      "delete scalars",
      { finalizers: ["a", "b"] },
      { "$deleteFromPrimitiveList/finalizers": ["a"] },
      { finalizers: ["b"] },
    ],
    ["delete scalars of no list", {}, { "$deleteFromPrimitiveList/finalizers": ["a"] }, {}],
    [
      "order of scalars",
      { finalizers: ["a", "b"] },
      { "$setElementOrder/finalizers": ["b", "a"] },
      { finalizers: ["b", "a"] },
    ],
    [
      "order of items",
      { containers: [c, side] },
      { "$setElementOrder/containers": [{ name: "side" }, { name: "c" }] },
      { containers: [side, c] },
    ],
    [
      "order with a change",
      { containers: [c, side] },
      {
        "$setElementOrder/containers": [{ name: "c" }, { name: "mid" }, { name: "side" }],
        containers: [{ name: "mid" }],
      },
      { containers: [c, { name: "mid" }, side] },
    ],
    [
      "items that the order does not name keep their places",
      { finalizers: ["a", "b", "c", "d"] },
      { "$setElementOrder/finalizers": ["d", "b"] },
      { finalizers: ["a", "c", "d", "b"] },
    ],
    [
      "one key twice in the patch: both merge into the item",
      { containers: [{ name: "c", ports: [{ port: 80, protocol: "TCP", target: "x" }] }] },
      {
        containers: [
          {
            name: "c",
            ports: [
              { port: 80, target: "y" },
              { port: 80, protocol: "UDP" },
            ],
          },
        ],
      },
      { containers: [{ name: "c", ports: [{ port: 80, protocol: "UDP", target: "y" }] }] },
    ],
    [
      "what is new has no directives and no nulls",
      {},
      { labels: { a: null, b: "1" }, strategy: { $patch: "replace" } },
      { labels: { b: "1" } },
    ],
    ["directives in a new list", {}, { containers: [{ name: "x", $patch: "delete" }, side] }, { containers: [side] }],
    ["another kind of value replaces", { labels: { a: "1" } }, { labels: "x" }, { labels: "x" }],
    ["nothing", { labels: { a: "1" } }, {}, { labels: { a: "1" } }],
  ])("%s", (_, original, patch, want) => {
    const before = structuredClone([original, patch]);
    expect(applyStrategicMergePatch(original, patch, spec)).toEqual(want);
    expect([original, patch]).toEqual(before);
  });

  it.each<[string, JsonObject, number, string]>([
    ["an unknown directive", { labels: { $patch: "x" } }, 500, "unknown patch type: x in map: map[$patch:x]"],
    [
      "a directive that is no text",
      { labels: { $patch: null } },
      500,
      "unknown patch type: %!s(<nil>) in map: map[$patch:<nil>]",
    ],
    [
      "an item without its key in a list that is replaced",
      { containers: [{ image: "x" }, { $patch: "replace" }] },
      500,
      "map: map[image:x] does not contain declared merge key: name",
    ],
    [
      "an item without its key",
      { containers: [{ image: "x" }] },
      500,
      "map: map[image:x] does not contain declared merge key: name",
    ],
    [
      "an order for no list",
      { "$setElementOrder/containers": "x" },
      500,
      "expected a []interface {}, but received a string",
    ],
    [
      "an order that does not fit",
      { "$setElementOrder/containers": [{ name: "c" }], containers: [{ name: "other", image: "m" }] },
      500,
      "The order in patch list:\n[map[image:m name:other]]\n doesn't match $setElementOrder list:\n[map[name:c]]\n",
    ],
    [
      "keys that are not retained",
      { strategy: { $retainKeys: ["a"], type: "b" } },
      400,
      "invalid patch format of retainKeys",
    ],
    ["retained keys that are no list", { strategy: { $retainKeys: "a" } }, 400, "invalid patch format of retainKeys"],
    [
      "a deletion list without a name",
      { $deleteFromPrimitiveList: ["a"] },
      400,
      "invalid patch format of primitive list",
    ],
    ["an order without a name", { $setElementOrder: [] }, 400, "invalid patch format of setElementOrder list"],
    ["lists of lists", { finalizers: [["a"]] }, 422, "the server rejected our request due to an error in our request"],
    ["mixed lists", { finalizers: ["a", 1] }, 500, "list element types are not identical: [[] [a 1]]"],
    [
      "a merge of items by directive",
      { containers: [{ $patch: "merge", name: "c" }] },
      500,
      "merging lists cannot yet be specified in the patch",
    ],
  ])("refuses %s", (_, patch, code, message) => {
    const original = { labels: { a: "1" }, containers: [c], strategy: { type: "a" }, finalizers: [] };
    let thrown: unknown;
    try {
      applyStrategicMergePatch(original, patch, spec);
    } catch (error) {
      thrown = error;
    }
    expect(toStatus(thrown)).toMatchObject({ code, message });
  });
});

describe("a spent patch", () => {
  it.each<[string, JsonObject, JsonObject]>([
    ["has no directives that were obeyed", { labels: { $retainKeys: ["a"], a: "2" } }, { labels: { a: "2" } }],
    ["has no replacement", { labels: { $patch: "replace", b: "1" } }, { labels: { b: "1" } }],
    [
      "has directives of what was not there",
      { strategy: { $retainKeys: ["a"] } },
      { strategy: { $retainKeys: ["a"] } },
    ],
    ["has no nulls in what was not there", { strategy: { a: "1", b: null } }, { strategy: { a: "1" } }],
    ["has nulls that removed something", { labels: { a: null } }, { labels: { a: null } }],
    [
      "has no lists that were put in order",
      { "$setElementOrder/containers": [{ name: "c" }], containers: [{ name: "c", image: "x" }] },
      {},
    ],
  ])("%s", (_, patch, want) => {
    const before = structuredClone(patch);
    expect(spentStrategicMergePatch({ labels: { a: "1" }, containers: [c] }, patch, spec)).toEqual(want);
    expect(patch).toEqual(before);
  });
});

describe("strategic merge patches always", () => {
  const name = fc.constantFrom("a", "b", "c", "d");
  const items = fc.uniqueArray(fc.record({ name, image: fc.string() }), { selector: (item) => item.name });

  it("give every item of both lists once, the patch's value winning", () => {
    fc.assert(
      fc.property(items, items, (before, change) => {
        const { containers } = applyStrategicMergePatch({ containers: before }, { containers: change }, spec) as {
          containers: { name: string; image: string }[];
        };
        const want = new Map([...before, ...change].map((item) => [item.name, item.image]));
        expect(new Map(containers.map((item) => [item.name, item.image]))).toEqual(want);
        expect(containers).toHaveLength(want.size);
      }),
    );
  });

  it("keep the order that was set, and change nothing the second time", () => {
    fc.assert(
      fc.property(items, items, fc.constant(["d", "c", "b", "a"]), (before, change, order) => {
        const sorted = change.toSorted((x, y) => order.indexOf(x.name) - order.indexOf(y.name));
        const patch = { containers: sorted, "$setElementOrder/containers": order.map((id) => ({ name: id })) };
        const once = applyStrategicMergePatch({ containers: before }, patch, spec);
        const names = (once.containers as { name: string }[]).map((item) => item.name);
        expect(names).toEqual(order.filter((id) => names.includes(id)));
        expect(applyStrategicMergePatch(once, patch, spec)).toEqual(once);
      }),
    );
  });
});
