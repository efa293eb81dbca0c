import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { typeSchema } from "../../facts/index.ts";
import { StatusError } from "../errors/status.ts";
import { isObject, type Json, type JsonObject } from "../json/json.ts";
import {
  type Applied,
  type ApplyRequest,
  applyConfiguration,
  type Convert,
  decodeFields,
  difference,
  fieldPath,
  includeFields,
  type ManagedFields,
  managedFieldsOf,
  pathsOf,
  printPath,
  updateManagedFields,
} from "./index.ts";
import { allPaths } from "./owned-paths.ts";
import { anySpec, int, object, sample, sampleSchema, string } from "./testing/sample.ts";

const context = { apiVersion: "example.com/v1", kind: "Sample", schema: sampleSchema };

function stored(object: JsonObject, managedFields: ManagedFields): JsonObject {
  return {
    ...object,
    metadata: { ...(object.metadata as JsonObject), uid: "u", managedFields: managedFields as never },
  };
}

function apply(
  live: JsonObject | undefined,
  manager: string,
  spec: JsonObject,
  more: Partial<ApplyRequest> = {},
): Applied {
  return applyConfiguration({
    ...context,
    live,
    applied: sample(spec),
    manager,
    force: false,
    now: "2024-01-01T00:00:00Z",
    ...more,
  });
}

function applied(
  live: JsonObject | undefined,
  manager: string,
  spec: JsonObject,
  more: Partial<ApplyRequest> = {},
): JsonObject {
  const { object, managedFields } = apply(live, manager, spec, more);
  return stored(object, managedFields);
}

function updated(
  live: JsonObject | undefined,
  manager: string,
  spec: JsonObject,
  now = "2024-01-01T00:00:00Z",
): JsonObject {
  const next = { ...sample(spec), metadata: { name: "s", uid: "u" } };
  return stored(next, updateManagedFields({ ...context, live, updated: next, manager, now }));
}

/** `m Apply: .spec.size` for each owner. */
function owners(object: JsonObject): string[] {
  return (managedFieldsOf(object) ?? []).map(({ manager, operation, fieldsV1 }) => {
    const paths = [...pathsOf(decodeFields(fieldsV1))].map((path) => printPath(path).replace(".spec.", ""));
    return `${manager} ${operation}: ${paths.join(" ")}`;
  });
}

function refusal(run: () => unknown): StatusError {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("apply", () => {
  it("creates, and owns what it says and no more", () => {
    const { object, managedFields, changed } = apply(undefined, "m", {
      size: 1,
      labels: { a: "b" },
      ports: [{ port: 80 }],
      whole: { a: "x" },
    });
    expect(object).toEqual(sample({ size: 1, labels: { a: "b" }, ports: [{ port: 80 }], whole: { a: "x" } }));
    expect(changed).toBe(true);
    expect(managedFields).toEqual([
      {
        manager: "m",
        operation: "Apply",
        apiVersion: "example.com/v1",
        time: "2024-01-01T00:00:00Z",
        fieldsType: "FieldsV1",
        fieldsV1: {
          "f:spec": {
            "f:labels": { "f:a": {} },
            "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {} } },
            "f:size": {},
            "f:whole": {},
          },
        },
      },
    ]);
  });

  const removal: readonly { name: string; live: JsonObject; want: JsonObject; wantOwners: string[] }[] = [
    {
      name: "a field that only it owned",
      live: applied(undefined, "m", { size: 1, on: true, nested: { a: "x" } }),
      want: { size: 1 },
      wantOwners: ["m Apply: size"],
    },
    {
      name: "not a field that another applier shares",
      live: applied(applied(undefined, "other", { on: true }), "m", { size: 1, on: true }),
      want: { size: 1, on: true },
      wantOwners: ["m Apply: size", "other Apply: on"],
    },
    {
      name: "not a field that an updater has changed since",
      live: updated(applied(undefined, "m", { size: 1, on: true }), "u", { size: 1, on: false }),
      want: { size: 1, on: false },
      wantOwners: ["m Apply: size", "u Update: on"],
    },
    {
      name: "an item of a list, with what others left in it unowned",
      live: applied(applied(undefined, "other", { ports: [{ port: 1 }] }), "m", {
        size: 1,
        ports: [{ port: 2, name: "x" }],
      }),
      want: { size: 1, ports: [{ port: 1 }] },
      wantOwners: ["m Apply: size", 'other Apply: ports[port=1,protocol="TCP"] ports[port=1,protocol="TCP"].port'],
    },
    {
      name: "an item's field, not the item that another applies",
      live: applied(applied(undefined, "other", { ports: [{ port: 1 }] }), "m", {
        size: 1,
        ports: [{ port: 1, name: "x" }],
      }),
      want: { size: 1, ports: [{ port: 1 }] },
      wantOwners: ["m Apply: size", 'other Apply: ports[port=1,protocol="TCP"] ports[port=1,protocol="TCP"].port'],
    },
    {
      name: "a member of a set",
      live: applied(applied(undefined, "other", { finalizers: ["a"] }), "m", { size: 1, finalizers: ["b"] }),
      want: { size: 1, finalizers: ["a"] },
      wantOwners: ["m Apply: size", 'other Apply: finalizers[="a"]'],
    },
    {
      name: "a key of an untyped map",
      live: applied(applied(undefined, "other", { extra: { a: { x: 1 } } }), "m", { size: 1, extra: { a: { y: 1 } } }),
      want: { size: 1, extra: { a: { x: 1 } } },
      wantOwners: ["m Apply: size", "other Apply: extra.a extra.a.x"],
    },
  ];
  it.each(removal)("removes $name", ({ live, want, wantOwners }) => {
    const next = applied(live, "m", { size: 1 });
    expect(next.spec).toEqual(want);
    expect(owners(next)).toEqual(wantOwners);
  });

  const orders: readonly { name: string; live: number[]; applied: number[]; want: number[] }[] = [
    { name: "new items behind", live: [1, 2], applied: [3], want: [1, 2, 3] },
    { name: "the applied order", live: [1, 2, 3], applied: [3, 1], want: [2, 3, 1] },
    { name: "live items before the shared one they preceded", live: [1, 2, 3], applied: [4, 3], want: [1, 2, 4, 3] },
    { name: "new items where they are applied", live: [1, 2], applied: [1, 3, 2], want: [1, 3, 2] },
    { name: "moved items once", live: [1, 2, 3], applied: [2, 1, 3], want: [2, 1, 3] },
    { name: "new items before a shared one", live: [1, 2], applied: [3, 1], want: [3, 1, 2] },
    { name: "untouched items between", live: [1, 9, 2], applied: [2, 1], want: [9, 2, 1] },
  ];
  it.each(orders)("orders a list: $name", ({ live, applied: items, want }) => {
    const numbered = (numbers: number[]): JsonObject => ({ ports: numbers.map((port) => ({ port })) });
    const next = applied(applied(undefined, "other", numbered(live)), "m", numbered(items));
    expect(next.spec).toEqual(numbered(want));
  });

  it("replaces items that shared their keys by the one that is applied", () => {
    const live = updated(undefined, "u", { ports: [{ port: 1, name: "x" }, { port: 1, name: "y" }, { port: 9 }] });
    const next = applied(live, "m", { ports: [{ port: 1 }, { port: 5 }] }, { force: true });
    expect(next.spec).toEqual({ ports: [{ port: 1 }, { port: 5 }, { port: 9 }] });
    expect(applied(live, "m", { size: 1 }).spec).toEqual({ ...(live.spec as JsonObject), size: 1 });
  });

  it("conflicts where it would change what others own, and says so", () => {
    const live = updated(applied(applied(undefined, "a", { size: 1, on: true }), "b", { labels: { x: "1" } }), "u", {
      size: 1,
      on: true,
      labels: { x: "1" },
      nested: { a: "x" },
    });
    const one = refusal(() => apply(live, "m", { size: 2 }));
    expect(one).toMatchObject({
      reason: "Conflict",
      code: 409,
      message: 'Apply failed with 1 conflict: conflict with "a": .spec.size',
    });
    const many = refusal(() => apply(live, "m", { size: 2, on: false, labels: { x: "2" }, nested: { a: "y" } }));
    expect(many.message).toBe(
      'Apply failed with 4 conflicts: conflicts with "a":\n- .spec.on\n- .spec.size\nconflicts with "b":\n- .spec.labels.x\nconflicts with "u" using example.com/v1:\n- .spec.nested.a',
    );
    expect(many.details?.causes?.[0]).toEqual({
      reason: "FieldManagerConflict",
      message: 'conflict with "a"',
      field: ".spec.on",
    });
  });

  it("takes what others own when forced", () => {
    const next = applied(applied(undefined, "a", { size: 1, on: true }), "m", { size: 2 }, { force: true });
    expect(next.spec).toEqual({ size: 2, on: true });
    expect(owners(next)).toEqual(["a Apply: on", "m Apply: size"]);
  });

  it("shares a field that has the value already, without a new time", () => {
    const live = applied(undefined, "a", { size: 1 });
    const { managedFields, changed } = apply(live, "m", { size: 1 }, { now: "2024-01-02T00:00:00Z" });
    expect(changed).toBe(true);
    expect(managedFields.map(({ manager, time }) => [manager, time])).toEqual([
      ["m", undefined],
      ["a", "2024-01-01T00:00:00Z"],
    ]);
  });

  it("gives existing fields without an owner to before-first-apply", () => {
    const live = { ...sample({ size: 1, on: true }), metadata: { name: "s", uid: "u" } };
    expect(refusal(() => apply(live, "m", { size: 2 })).message).toBe(
      'Apply failed with 1 conflict: conflict with "before-first-apply" using example.com/v1: .spec.size',
    );
    expect(owners(applied(live, "m", { size: 1 }))).toEqual([
      "m Apply: size",
      "before-first-apply Update: .spec on size",
    ]);
  });

  it("leaves out what the endpoint resets", () => {
    const resetFields = includeFields(fieldPath("spec.size"));
    expect(owners(applied(undefined, "m", { size: 1, on: true }, { resetFields }))).toEqual(["m Apply: size"]);
  });

  it.each([
    {
      name: "another kind",
      applied: { ...sample({}), kind: "Other" },
      code: 400,
      want: "invalid object type: example.com/v1, Kind=Other",
    },
    {
      name: "a version of the core group",
      applied: { ...sample({}), apiVersion: "v1" },
      code: 400,
      want: "invalid object type: /v1, Kind=Sample",
    },
    {
      name: "managedFields",
      applied: sample({}, { managedFields: [] }),
      code: 400,
      want: "metadata.managedFields must be nil",
    },
    {
      name: "an unknown field",
      applied: sample({ nosuch: 1 }, { namespace: "n" }),
      code: 500,
      want: "failed to create typed patch object (n/s; example.com/v1, Kind=Sample): errors:\n  .metadata.namespace: field not declared in schema\n  .spec.nosuch: field not declared in schema",
    },
    {
      name: "items with the same keys",
      applied: sample({ ports: [{ port: 80 }, { port: 80, protocol: "TCP" }] }),
      code: 500,
      want: 'failed to create typed patch object (/s; example.com/v1, Kind=Sample): .spec.ports: duplicate entries for key [port=80,protocol="TCP"]',
    },
  ])("refuses $name", ({ applied: configuration, code, want }) => {
    const error = refusal(() => apply(undefined, "m", {}, { applied: configuration }));
    expect(error.message).toBe(want);
    expect(error.code).toBe(code);
  });

  it("tells owners of another version by what their version shows", () => {
    const v2 = object({
      apiVersion: string,
      kind: string,
      metadata: object({ name: string }),
      spec: object({ length: int }),
    });
    const convert: Convert = (from, apiVersion) => {
      const { size, length, ...rest } = (from.spec ?? {}) as JsonObject;
      const value = size ?? length;
      const named = (name: string): JsonObject => ({
        ...from,
        apiVersion,
        spec: { ...rest, ...(value === undefined ? {} : { [name]: value }) },
      });
      if (apiVersion === "example.com/v1") return { schema: sampleSchema, object: named("size") };
      return apiVersion === "example.com/v2" ? { schema: v2, object: named("length") } : undefined;
    };
    const entry = {
      manager: "old",
      operation: "Apply",
      apiVersion: "example.com/v2",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:spec": { "f:length": {} } },
    };
    const gone = { ...entry, manager: "gone", apiVersion: "example.com/v0" };
    const live = stored(sample({ size: 1 }), [entry, gone]);
    expect(refusal(() => apply(live, "m", { size: 2 }, { convert })).message).toBe(
      'Apply failed with 1 conflict: conflict with "old": .spec.length',
    );
    expect(owners(applied(live, "m", { size: 2 }, { convert, force: true }))).toEqual(["m Apply: size"]);
    expect(owners(applied(live, "m", { on: true }, { convert }))).toEqual(["old Apply: length", "m Apply: on"]);
    const next = apply(live, "old", { on: true }, { convert });
    expect(next.object).toEqual({ ...sample({ on: true }), metadata: { name: "s", uid: "u" } });
    expect(next.managedFields).toMatchObject([
      { manager: "old", apiVersion: "example.com/v1", fieldsV1: { "f:spec": { "f:on": {} } } },
    ]);
  });

  it("reads owners written before a part became atomic", () => {
    const entry = {
      manager: "old",
      operation: "Apply",
      apiVersion: "example.com/v1",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:spec": { "f:whole": { "f:a": {} } } },
    };
    const live = stored(sample({ whole: { a: "x" } }), [entry]);
    expect(refusal(() => apply(live, "m", { whole: { a: "y" } })).message).toBe(
      'Apply failed with 1 conflict: conflict with "old": .spec.whole',
    );
  });

  it("keeps keys that JavaScript has a meaning for", () => {
    const odd = JSON.parse('{"__proto__":"x","constructor":"y","toString":"z"}') as JsonObject;
    const live = applied(undefined, "a", { labels: { b: "c" } });
    const next = applied(live, "m", { labels: odd });
    expect(JSON.stringify((next.spec as JsonObject).labels)).toBe(
      '{"b":"c","__proto__":"x","constructor":"y","toString":"z"}',
    );
    expect(JSON.stringify((applied(next, "m", {}).spec as JsonObject).labels)).toBe('{"b":"c"}');
  });
});

describe("apply, whatever is applied", () => {
  it("changes nothing the second time", () => {
    fc.assert(
      fc.property(anySpec, anySpec, (first, second) => {
        const live = applied(applied(undefined, "a", first), "m", second, { force: true, now: "2024-01-02T00:00:00Z" });
        const again = apply(live, "m", second, { now: "2024-01-03T00:00:00Z" });
        expect(again.changed).toBe(false);
        expect(again.managedFields).toBe(managedFieldsOf(live));
      }),
    );
  });

  it("undoes itself when nothing is applied any more", () => {
    fc.assert(
      fc.property(anySpec, anySpec, (first, second) => {
        // An empty list has no fields that anybody could own: it stays.
        fc.pre(!JSON.stringify(second).includes("[]"));
        const live = updated(undefined, "u", first);
        let next: JsonObject;
        try {
          next = applied(live, "m", second);
        } catch {
          return;
        }
        const { spec: _, ...nothing } = sample({});
        const after = applyConfiguration({
          ...context,
          live: next,
          applied: nothing,
          manager: "m",
          force: false,
          now: "2024-01-02T00:00:00Z",
        });
        // What the applier was the last to own something in is null.
        expect(unordered(withoutEmpty(after.object.spec))).toEqual(unordered(withoutEmpty(first)));
        expect(after.managedFields).toEqual(managedFieldsOf(live));
      }),
    );
  });

  it("leaves no owner of an absent field, and all sets sorted", () => {
    const write = fc.record({ spec: anySpec, manager: fc.constantFrom("a", "b", "c"), apply: fc.boolean() });
    fc.assert(
      fc.property(fc.array(write, { minLength: 1, maxLength: 6 }), (writes) => {
        let live: JsonObject | undefined;
        for (const { spec, manager, apply: isApply } of writes) {
          live = isApply ? applied(live, manager, spec, { force: true }) : updated(live, manager, spec);
          const present = allPaths(sampleSchema, live);
          for (const { fieldsV1 } of managedFieldsOf(live) ?? []) {
            const beyond = difference(decodeFields(fieldsV1), present);
            expect([...pathsOf(beyond)].map(printPath)).toEqual([]);
          }
        }
      }),
    );
  });
});

/** Applying may move items. */
/** Null for what has no parts. */
function withoutEmpty(value: Json | undefined): Json {
  if (typeof value !== "object" || value === null) return value ?? null;
  if (Object.keys(value).length === 0) return null;
  if (Array.isArray(value)) return value.map(withoutEmpty);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withoutEmpty(part as Json)]));
}

function unordered(value: Json): Json {
  if (Array.isArray(value))
    return value.map(unordered).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, unordered(part)]))
    : value;
}

describe("kubectl, from client-side to server-side apply", () => {
  const schema = typeSchema("io.k8s.api.core.v1.ConfigMap");
  const annotation = "kubectl.kubernetes.io/last-applied-configuration";
  const configuration = (data: JsonObject): JsonObject => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a" },
    data,
  });
  const live = (data: JsonObject, last: JsonObject): JsonObject => {
    const metadata = { name: "a", uid: "u", annotations: { [annotation]: `${JSON.stringify(configuration(last))}\n` } };
    const created = { ...configuration(data), metadata };
    const request = {
      live: undefined,
      updated: created,
      apiVersion: "v1",
      schema,
      manager: "kubectl-client-side-apply",
      now: "2024-01-01T00:00:00Z",
    };
    return stored(created, updateManagedFields(request));
  };
  const run = (from: JsonObject, data: JsonObject, manager = "kubectl"): Applied =>
    applyConfiguration({
      live: from,
      applied: configuration(data),
      apiVersion: "v1",
      kind: "ConfigMap",
      schema,
      manager,
      force: false,
      now: "2024-01-02T00:00:00Z",
    });

  it("takes over what the annotation says it applied, and keeps the annotation up to date", () => {
    const { object: next } = run(live({ a: "1", b: "2" }, { a: "1" }), { a: "9" });
    expect(next.data).toEqual({ a: "9", b: "2" });
    expect(next.metadata).toMatchObject({
      annotations: {
        [annotation]: '{"apiVersion":"v1","data":{"a":"9"},"kind":"ConfigMap","metadata":{"name":"a"}}\n',
      },
    });
  });

  it("conflicts about the rest", () => {
    expect(refusal(() => run(live({ a: "1", b: "2" }, { a: "1" }), { a: "9", b: "9" })).message).toBe(
      'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.b',
    );
    expect(refusal(() => run(live({ a: "2" }, { a: "1" }), { a: "9" })).message).toContain("1 conflict");
    expect(refusal(() => run(live({ a: "1" }, { a: "1" }), { a: "9" }, "other")).message).toContain("1 conflict");
  });
});
