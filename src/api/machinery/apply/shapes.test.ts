/** What is built on shapes alone: conformance, extraction, and the zero value. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { typeSchema } from "../../facts/index.ts";
import {
  compare,
  extractItems,
  fieldPath,
  fieldSet,
  isSame,
  leaves,
  nonconformance,
  ownedPaths,
  pathsOf,
  printPath,
  removeItems,
  zeroObject,
} from "./index.ts";
import { anySpec, sample, sampleSchema } from "./testing/sample.ts";

describe("conformance", () => {
  it.each([
    { spec: { size: 1, labels: { a: "b" }, extra: { any: ["thing"] }, nested: null }, want: undefined },
    { spec: { size: "x" }, want: ".spec.size: expected numeric (int or float), got string" },
    { spec: { size: {} }, want: ".spec.size: expected numeric (int or float), got map[string]interface {}" },
    { spec: { on: "yes" }, want: ".spec.on: expected boolean, got &{yes}" },
    { spec: { labels: { a: 1 } }, want: ".spec.labels.a: expected string, got &value.valueUnstructured{Value:1}" },
    {
      spec: { labels: { a: { b: ["c", null] } } },
      want: '.spec.labels.a: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"b":[]interface {}{"c", interface {}(nil)}}}',
    },
    { spec: { labels: "x" }, want: ".spec.labels: expected map, got &{x}" },
    { spec: { args: "x" }, want: ".spec.args: expected list, got &{x}" },
    { spec: { args: ["a", 1] }, want: ".spec.args[1]: expected string, got &value.valueUnstructured{Value:1}" },
    { spec: { nested: { c: 1 } }, want: ".spec.nested.c: field not declared in schema" },
    { spec: { ports: [null] }, want: ".spec.ports: element 0: associative list with keys may not have a null element" },
    { spec: { ports: [1] }, want: ".spec.ports: element 0: associative list with keys may not have non-map elements" },
    { spec: { finalizers: ["a", "a"] }, want: '.spec.finalizers: duplicate entries for key [="a"]' },
    {
      spec: { finalizers: [{}] },
      want: ".spec.finalizers: element 0: associative list without keys has an element that's a map type",
    },
    {
      spec: { finalizers: [[]] },
      want: ".spec.finalizers: element 0: not supported: associative list with lists as elements",
    },
    {
      spec: { finalizers: [null] },
      want: ".spec.finalizers: element 0: associative list without keys has an element that's an explicit null",
    },
  ])("of $spec", ({ spec, want }) => {
    expect(nonconformance(sampleSchema, sample(spec))).toBe(want);
  });

  it("asks for keys that have no default", () => {
    const account = { secrets: [{ namespace: "x" }] };
    expect(nonconformance(typeSchema("io.k8s.api.core.v1.ServiceAccount"), account)).toBe(
      '.secrets: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
    );
  });

  it.each([
    { name: "a name", type: "Pod", object: { spec: { containers: [{ image: "x" }] } } },
    { name: "two keys", type: "Pod", object: { spec: { topologySpreadConstraints: [{ maxSkew: 1 }] } } },
    { name: "a number", type: "Service", object: { spec: { ports: [{ name: "x" }] } } },
  ])("takes the zero value of a key that Go always writes: $name", ({ type, object }) => {
    expect(nonconformance(typeSchema(`io.k8s.api.core.v1.${type}`), object)).toBeUndefined();
  });
});

describe("owned paths", () => {
  it.each([
    { spec: { nested: {} }, want: [".spec.nested"] },
    { spec: { nested: null }, want: [".spec.nested"] },
    { spec: { labels: {} }, want: [".spec.labels"] },
    { spec: { finalizers: [] }, want: [] },
    { spec: { args: [] }, want: [".spec.args"] },
    { spec: { ports: [{ port: 1 }, { port: 1, protocol: "TCP" }] }, want: ['.spec.ports[port=1,protocol="TCP"]'] },
    { spec: { extra: { a: { b: [1] } } }, want: [".spec.extra.a", ".spec.extra.a.b"] },
    { spec: { raw: { a: { b: [1] } } }, want: [".spec.raw"] },
  ])("of $spec", ({ spec, want }) => {
    expect([...pathsOf(ownedPaths(sampleSchema, { spec }))].map(printPath)).toEqual(want);
  });

  it("extract all there is, and remove all there is", () => {
    fc.assert(
      fc.property(anySpec, (spec) => {
        const object = sample(spec);
        const owned = ownedPaths(sampleSchema, object);
        const extracted = extractItems(sampleSchema, object, leaves(owned));
        const lost = compare(sampleSchema, object, extracted ?? {});
        expect([...pathsOf(lost.modified), ...pathsOf(lost.added)]).toEqual([]);
        expect(
          [...pathsOf(ownedPaths(sampleSchema, removeItems(sampleSchema, object, owned)))].every(
            (path) => path.length <= 2,
          ),
        ).toBe(true);
      }),
    );
  });

  it("can be taken out one by one", () => {
    const object = sample({ labels: { a: "b" }, ports: [{ port: 1, name: "x" }, { port: 2 }] });
    const some = fieldSet(fieldPath("spec.labels.a"), ["f:spec", "f:ports", 'k:{"port":1,"protocol":"TCP"}']);
    expect(removeItems(sampleSchema, object, some)).toEqual(sample({ labels: null, ports: [{ port: 2 }] }));
    expect(extractItems(sampleSchema, object, some)).toEqual({ spec: { labels: { a: "b" }, ports: [{}] } });
    expect(isSame(compare(sampleSchema, object, removeItems(sampleSchema, object, fieldSet())))).toBe(true);
  });
});

describe("the zero value", () => {
  it("has the structures that Go always writes", () => {
    expect(zeroObject(typeSchema("io.k8s.api.core.v1.ConfigMap"))).toMatchObject({ metadata: {} });
    expect(zeroObject(typeSchema("io.k8s.api.core.v1.ConfigMap"))).not.toHaveProperty("data");
    expect(zeroObject(typeSchema("io.k8s.api.apps.v1.Deployment"))).toMatchObject({
      spec: { selector: null, strategy: {}, template: { spec: { containers: null } } },
      status: {},
    });
  });

  it("is nothing for a kind without a Go type", () => {
    expect(zeroObject(sampleSchema)).toEqual({});
  });
});
