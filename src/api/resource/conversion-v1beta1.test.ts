import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { equalJson } from "../machinery/json/equal.ts";
import type { Json } from "../machinery/json/json.ts";
import type * as v1 from "../types/resource-v1.ts";
import type * as v1beta1 from "../types/resource-v1beta1.ts";
import { claims, claimTemplates, slices } from "./conversion-v1beta1.ts";

const text = fc.string({ minLength: 1, maxLength: 8 });
const optional = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model, { requiredKeys: [] });

/** The fields of a request for one class of devices. */
const exact = {
  selectors: fc.array(fc.record({ cel: fc.record({ expression: text }) }), { maxLength: 2 }),
  allocationMode: fc.constantFrom("ExactCount" as const, "All" as const),
  count: fc.integer({ min: 1, max: 9 }),
  adminAccess: fc.boolean(),
  tolerations: fc.array(fc.record({ key: text, operator: fc.constant("Exists" as const) }), { maxLength: 2 }),
  capacity: fc.record({ requests: fc.dictionary(text, fc.constant("1Gi"), { maxKeys: 2, noNullPrototype: true }) }),
};
const alternatives = fc.array(fc.record({ name: text, deviceClassName: text }), { minLength: 1, maxLength: 2 });
const newRequest = fc.oneof(
  fc
    .tuple(text, text, optional(exact))
    .map(([name, deviceClassName, rest]) => ({ name, exactly: { deviceClassName, ...rest } })),
  fc.record({ name: text, firstAvailable: alternatives }),
);
const oldRequest = fc.oneof(
  fc.tuple(text, text, optional(exact)).map(([name, deviceClassName, rest]) => ({ name, deviceClassName, ...rest })),
  fc.record({ name: text, deviceClassName: fc.constant(""), firstAvailable: alternatives }),
);
const device = {
  attributes: fc.dictionary(text, fc.record({ string: text }), { maxKeys: 2, noNullPrototype: true }),
  capacity: fc.dictionary(text, fc.record({ value: fc.constant("1") }), { maxKeys: 2, noNullPrototype: true }),
  nodeName: text,
  allNodes: fc.boolean(),
  taints: fc.array(fc.record({ key: text, effect: fc.constant("NoExecute" as const) }), { maxLength: 2 }),
};
const sliceSpec = {
  driver: text,
  pool: fc.record({ name: text, generation: fc.nat(), resourceSliceCount: fc.integer({ min: 1, max: 9 }) }),
};

const metadata = fc.record({ name: text, labels: fc.dictionary(text, text, { maxKeys: 2, noNullPrototype: true }) });
const claimOf = (request: fc.Arbitrary<object>) =>
  optional({
    requests: fc.array(request, { maxLength: 3 }),
    constraints: fc.array(fc.record({ requests: fc.array(text, { maxLength: 1 }) }), { maxLength: 1 }),
  }).map((devices) => ({ devices }));
const objectOf = (version: string, kind: string, spec: fc.Arbitrary<object>) =>
  fc
    .tuple(metadata, spec)
    .map(([metadata, spec]) => ({ apiVersion: `resource.k8s.io/${version}`, kind, metadata, spec }));
const oldSlice = fc
  .tuple(fc.record(sliceSpec), optional({ nodeName: text, allNodes: fc.constant(true) }), optional(device), text)
  .map(([spec, place, basic, name]) => ({ ...spec, ...place, devices: [{ name, basic }] }));
const newSlice = fc
  .tuple(fc.record(sliceSpec), optional({ nodeName: text, allNodes: fc.constant(true) }), optional(device), text)
  .map(([spec, place, rest, name]) => ({ ...spec, ...place, devices: [{ name, ...rest }] }));

const same = (a: unknown, b: unknown) => equalJson(a as Json, b as Json);
const stored = (object: object) => ({ ...object, apiVersion: "resource.k8s.io/v1" });

describe("conversion loses nothing", () => {
  it.each([
    ["ResourceClaim", claimOf(oldRequest), claims],
    ["ResourceClaimTemplate", claimOf(oldRequest).map((spec) => ({ spec })), claimTemplates],
    ["ResourceSlice", oldSlice, slices],
  ])("%s of v1beta1 through v1", (kind, spec, { toStored, fromStored }) => {
    const check = (object: object) => same(fromStored(stored(toStored(object as never)) as never), object);
    fc.assert(fc.property(objectOf("v1beta1", kind, spec), check));
  });

  it.each([
    ["ResourceClaim", claimOf(newRequest), claims],
    ["ResourceClaimTemplate", claimOf(newRequest).map((spec) => ({ spec })), claimTemplates],
    ["ResourceSlice", newSlice, slices],
  ])("%s of v1 through v1beta1", (kind, spec, { toStored, fromStored }) => {
    const check = (object: object) => same(stored(toStored(fromStored(object as never) as never)), object);
    fc.assert(fc.property(objectOf("v1", kind, spec), check));
  });
});

describe("the forms", () => {
  const meta = { metadata: { name: "a" } };

  it.each<{ old: object; now: object }>([
    {
      old: { name: "r", deviceClassName: "c", count: 2 },
      now: { name: "r", exactly: { deviceClassName: "c", count: 2 } },
    },
    {
      old: { name: "r", deviceClassName: "", firstAvailable: [{ name: "s", deviceClassName: "c" }] },
      now: { name: "r", firstAvailable: [{ name: "s", deviceClassName: "c" }] },
    },
    { old: { name: "r", deviceClassName: "" }, now: { name: "r" } },
  ])("a request $old", ({ old, now }) => {
    const claim = { ...meta, spec: { devices: { requests: [old] } } } as v1beta1.ResourceClaim;
    expect(claims.toStored(claim).spec.devices?.requests).toEqual([now]);
    expect(claims.fromStored({ ...meta, spec: { devices: { requests: [now] } } } as v1.ResourceClaim).spec).toEqual(
      claim.spec,
    );
  });

  it("an empty node name and false are absent in v1", () => {
    const slice = {
      ...meta,
      spec: { nodeName: "", allNodes: false, devices: null },
    } as unknown as v1beta1.ResourceSlice;
    expect(slices.toStored(slice).spec).toEqual({});
  });
});
