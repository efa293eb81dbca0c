import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { typeSchema } from "../../facts/index.ts";
import type { Json, JsonObject } from "../json/json.ts";
import { touched } from "./compare.ts";
import {
  compare,
  decodeFields,
  excludeFields,
  fieldPath,
  fieldSet,
  hasPath,
  type ManagedFields,
  managedFieldsOf,
  pathsOf,
  printPath,
  type UpdateRequest,
  updateManagedFields,
} from "./index.ts";
import { anySpec, sample, sampleSchema } from "./testing/sample.ts";

const context = { apiVersion: "example.com/v1", schema: sampleSchema };

function write(
  live: JsonObject | undefined,
  manager: string,
  spec: JsonObject,
  more: Partial<UpdateRequest> = {},
): JsonObject {
  const updated = { ...sample(spec), metadata: { name: "s", uid: "u" } };
  const managedFields = updateManagedFields({
    ...context,
    live,
    updated,
    manager,
    now: "2024-01-01T00:00:00Z",
    ...more,
  });
  return { ...updated, metadata: { ...updated.metadata, managedFields: managedFields as unknown as Json } };
}

function owners(object: JsonObject): string[] {
  return (managedFieldsOf(object) ?? []).map(({ manager, fieldsV1 }) => {
    return `${manager}: ${[...pathsOf(decodeFields(fieldsV1))].map((path) => printPath(path).replace(".spec.", "")).join(" ")}`;
  });
}

describe("ownership after a write", () => {
  it.each([
    { name: "what is added", before: { size: 1 }, after: { size: 1, on: true }, want: ["a: .spec size", "b: on"] },
    {
      name: "what is modified",
      before: { size: 1, on: true },
      after: { size: 2, on: true },
      want: ["a: .spec on", "b: size"],
    },
    { name: "nothing, of what is removed", before: { size: 1, on: true }, after: { on: true }, want: ["a: .spec on"] },
    {
      name: "items of lists",
      before: { ports: [{ port: 1 }] },
      after: { ports: [{ port: 1, name: "x" }, { port: 2 }] },
      want: [
        'a: .spec ports ports[port=1,protocol="TCP"] ports[port=1,protocol="TCP"].port',
        'b: ports[port=2,protocol="TCP"] ports[port=1,protocol="TCP"].name ports[port=2,protocol="TCP"].port',
      ],
    },
    {
      name: "an atomic part as a whole",
      before: { whole: { a: "x", b: "y" } },
      after: { whole: { a: "x", b: "z" } },
      want: ["a: .spec", "b: whole"],
    },
    {
      name: "nothing, when items only move",
      before: { ports: [{ port: 1 }, { port: 2 }] },
      after: { ports: [{ port: 2 }, { port: 1 }] },
      want: [
        'a: .spec ports ports[port=1,protocol="TCP"] ports[port=2,protocol="TCP"] ports[port=1,protocol="TCP"].port ports[port=2,protocol="TCP"].port',
      ],
    },
    {
      name: "duplicates, as one",
      before: { size: 1 },
      after: {
        size: 1,
        ports: [
          { port: 1, name: "x" },
          { port: 1, name: "y" },
        ],
      },
      want: ["a: .spec size", 'b: ports ports[port=1,protocol="TCP"]'],
    },
    {
      name: "what was a duplicate, with its fields",
      before: { ports: [{ port: 1 }, { port: 1 }] },
      after: { ports: [{ port: 1 }] },
      want: ["a: .spec ports", 'b: ports[port=1,protocol="TCP"] ports[port=1,protocol="TCP"].port'],
    },
    {
      name: "duplicates that change",
      before: { ports: [{ port: 1 }, { port: 1 }] },
      after: { ports: [{ port: 1 }, { port: 1, name: "x" }] },
      want: ["a: .spec ports", 'b: ports[port=1,protocol="TCP"]'],
    },
    {
      name: "an untyped part that changes its shape",
      before: { extra: { a: { b: 1 } } },
      after: { extra: "x" },
      want: ["a: .spec", "b: extra"],
    },
  ] satisfies { name: string; before: JsonObject; after: JsonObject; want: string[] }[])(
    "$name",
    ({ before, after, want }) => {
      expect(owners(write(write(undefined, "a", before), "b", after))).toEqual(want);
    },
  );

  it("does not change when nothing does", () => {
    const live = write(undefined, "a", { size: 1, ports: [{ port: 1 }] });
    expect(managedFieldsOf(write(live, "b", { size: 1, ports: [{ port: 1 }] }, { now: "2024-01-02T00:00:00Z" }))).toBe(
      managedFieldsOf(live),
    );
  });

  it("keeps the entries of owners that lose nothing, and the time of those that gain nothing", () => {
    const live = write(write(undefined, "a", { size: 1, on: true }), "b", { size: 1, on: true, labels: { x: "y" } });
    const entries =
      managedFieldsOf(write(live, "b", { size: 1, on: false, labels: { x: "y" } }, { now: "2024-01-02T00:00:00Z" })) ??
      [];
    expect(entries.map(({ manager, time }) => [manager, time])).toEqual([
      ["a", "2024-01-01T00:00:00Z"],
      ["b", "2024-01-02T00:00:00Z"],
    ]);
    const untouched = managedFieldsOf(write(live, "c", { size: 1, on: false, labels: { x: "y" } }))?.find(
      ({ manager }) => manager === "b",
    );
    expect(untouched).toBe(managedFieldsOf(live)?.find(({ manager }) => manager === "b"));
  });

  it("leaves out what the endpoint resets, for the writer and for everybody else", () => {
    const live = write(undefined, "a", { size: 1, on: true });
    const resetFields = excludeFields(fieldSet(fieldPath("spec.size")));
    expect(owners(write(live, "b", { size: 2, on: false }, { resetFields }))).toEqual(["a: .spec size", "b: on"]);
  });

  it("is not tracked once it was forgotten, and a list that cannot be read is not taken", () => {
    const live = write(undefined, "a", { size: 1 });
    const sent = (managedFields: unknown, spec: JsonObject = { size: 2 }): JsonObject => {
      const updated = { ...sample(spec), metadata: { name: "s", uid: "u", managedFields: managedFields as Json } };
      return write(live, "b", spec, { updated });
    };
    expect(owners(sent([]))).toEqual([]);
    expect(owners(sent([{}]))).toEqual([]);
    expect(owners(write(sent([{}]), "b", { size: 3 }))).toEqual([]);
    expect(owners(sent([{ operation: "Foo" }]))).toEqual(["a: .spec", "b: size"]);
    const mine = {
      manager: "x",
      operation: "Update",
      apiVersion: "v",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:spec": { "f:on": {} } },
    };
    expect(owners(sent([mine], { size: 1 }))).toEqual(["x: on"]);
    const updated = { ...sample({ size: 1 }), metadata: { name: "s", uid: "u", managedFields: [] } };
    expect(owners(write(live, "b", {}, { updated, subresource: "status" }))).toEqual(["a: .spec size"]);
  });

  it("forgets the owners of an object that cannot be walked by its schema", () => {
    const live = write(undefined, "a", { size: 1 });
    expect(managedFieldsOf(write(live, "b", { ports: [{ protocol: "TCP", port: 1 }, null] }))).toEqual([]);
  });

  it("goes from all others to the writer, whatever changes", () => {
    fc.assert(
      fc.property(anySpec, anySpec, (before, after) => {
        const live = write(undefined, "a", before);
        const next = write(live, "b", after);
        const changed = touched(compare(sampleSchema, sample(before), sample(after)));
        const others = (managedFieldsOf(next) ?? []).filter(({ manager }) => manager === "a");
        for (const path of pathsOf(changed))
          for (const { fieldsV1 } of others) expect(hasPath(decodeFields(fieldsV1), path)).toBe(false);
      }),
    );
  });
});

describe("ownership after a create of a built-in kind", () => {
  it("does not include the structures that are always there", () => {
    const updated = {
      metadata: { name: "d", creationTimestamp: null },
      spec: {
        replicas: 1,
        selector: { matchLabels: { a: "b" } },
        strategy: { type: "Recreate" },
        template: { spec: { containers: [{ name: "c", resources: {} }] } },
      },
      status: {},
    };
    const [entry] = updateManagedFields({
      live: undefined,
      updated,
      manager: "m",
      apiVersion: "apps/v1",
      schema: typeSchema("io.k8s.api.apps.v1.Deployment"),
      now: "2024-01-01T00:00:00Z",
    });
    expect(entry?.fieldsV1).toEqual({
      "f:spec": {
        "f:replicas": {},
        "f:selector": {},
        "f:strategy": { "f:type": {} },
        "f:template": {
          "f:spec": { "f:containers": { 'k:{"name":"c"}': { ".": {}, "f:name": {}, "f:resources": {} } } },
        },
      },
    });
  });
});

describe("too many updaters", () => {
  const many = (count: number, apiVersion: (i: number) => string): ManagedFields =>
    Array.from({ length: count }, (_, i) => ({
      manager: `m${String(i).padStart(2, "0")}`,
      operation: "Update",
      apiVersion: apiVersion(i),
      time: `2024-01-01T00:00:${String(i).padStart(2, "0")}Z`,
      fieldsType: "FieldsV1",
      fieldsV1: { "f:spec": { "f:labels": { [`f:${i}`]: {} } } },
    }));
  const capped = (entries: ManagedFields): ManagedFields => {
    const labels = Object.fromEntries(entries.map((_, i) => [i, "x"]));
    const live = {
      ...sample({ labels }),
      metadata: { name: "s", uid: "u", managedFields: entries as unknown as Json },
    };
    return managedFieldsOf(write(live, "new", { labels, size: 1 }, { now: "2024-01-02T00:00:00Z" })) ?? [];
  };

  it("are ten at most: the oldest become one", () => {
    const entries = capped(many(12, () => "example.com/v1"));
    expect(entries.map(({ manager }) => manager)).toEqual([
      "ancient-changes",
      ...many(12, () => "")
        .slice(4)
        .map(({ manager }) => manager),
      "new",
    ]);
    expect(entries[0]).toMatchObject({
      time: "2024-01-01T00:00:03Z",
      fieldsV1: { "f:spec": { "f:labels": { "f:0": {}, "f:1": {}, "f:2": {}, "f:3": {} } } },
    });
  });

  it("become one for each apiVersion", () => {
    const names = capped(many(11, (i) => (i % 2 === 0 ? "example.com/v1" : "example.com/v2"))).map(
      ({ manager, apiVersion }) => `${manager} ${apiVersion}`,
    );
    expect(names).toHaveLength(10);
    expect(names.slice(0, 2)).toEqual(["ancient-changes example.com/v1", "ancient-changes example.com/v2"]);
  });

  it("stay as they are up to ten", () => {
    expect(capped(many(9, () => "example.com/v1")).map(({ manager }) => manager)).not.toContain("ancient-changes");
  });
});
