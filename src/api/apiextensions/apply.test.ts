/** Server-side apply of custom objects: ownership follows from the definition. */
import { describe, expect, it } from "vitest";
import { applyConfiguration } from "../machinery/apply/index.ts";
import type { Json, JsonObject } from "../machinery/json/json.ts";
import { list, object, preserving, thing, thingOf } from "./testing/definitions.ts";

const kind = thing(
  object({
    a: { type: "string" },
    open: preserving,
    whole: object({ x: { type: "integer" } }, { "x-kubernetes-map-type": "atomic" }),
    plain: list({ type: "string" }),
    set: list({ type: "string" }, { "x-kubernetes-list-type": "set" }),
    map: list(object({ k: { type: "string", default: "d" }, v: { type: "integer" } }), {
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["k"],
    }),
    either: { "x-kubernetes-int-or-string": true },
  }),
);

function apply(spec: Json, live?: JsonObject, manager = "m1") {
  return applyConfiguration({
    apiVersion: "example.com/v1",
    kind: "Thing",
    schema: kind.schema,
    manager,
    now: "2026-01-01T00:00:00Z",
    live,
    applied: thingOf(spec),
    force: false,
  });
}

function owned(spec: Json): Json {
  const [entry] = apply(spec).managedFields;
  return (entry?.fieldsV1?.["f:spec"] ?? null) as Json;
}

describe("applying a custom object", () => {
  it.each<readonly [string, Json, Json]>([
    ["fields", { a: "x" }, { "f:a": {} }],
    [
      "what has no schema, by what it is",
      { open: { b: { c: 1 }, l: [1] } },
      { "f:open": { "f:b": { ".": {}, "f:c": {} }, "f:l": {} } },
    ],
    ["atomic maps as a whole", { whole: { x: 1 } }, { "f:whole": {} }],
    ["lists as a whole", { plain: ["x"] }, { "f:plain": {} }],
    ["items of sets", { set: ["x"] }, { "f:set": { 'v:"x"': {} } }],
    [
      "items by their keys, given or not",
      { map: [{ k: "y", v: 1 }, { v: 2 }] },
      { "f:map": { 'k:{"k":"y"}': { ".": {}, "f:k": {}, "f:v": {} }, 'k:{"k":"d"}': { ".": {}, "f:v": {} } } },
    ],
    ["either one", { either: "50%" }, { "f:either": {} }],
  ])("owns %s", (_, spec, want) => {
    expect(owned(spec)).toEqual(want);
  });

  it("merges and takes away", () => {
    const first = apply({ a: "x", map: [{ k: "y", v: 1 }] });
    const live = {
      ...first.object,
      metadata: { ...(first.object.metadata as JsonObject), managedFields: first.managedFields },
    } as unknown as JsonObject;
    const second = apply({ map: [{ k: "z", v: 2 }] }, live, "m2");
    expect(second.object.spec).toEqual({
      a: "x",
      map: [
        { k: "y", v: 1 },
        { k: "z", v: 2 },
      ],
    });
    expect(apply({ map: [{ k: "y", v: 1 }] }, live).object.spec).toEqual({ map: [{ k: "y", v: 1 }] });
  });

  it("refuses what is not declared", () => {
    expect(() => apply({ nosuch: 1 })).toThrow(".spec.nosuch: field not declared in schema");
  });
});
