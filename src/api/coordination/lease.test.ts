import { expect, it } from "vitest";
import { faults, object } from "../apps/testing/builders.ts";
import { create, update } from "../apps/testing/run-rules.ts";
import type { JsonObject } from "../machinery/json/json.ts";
import { Lease } from "./index.ts";

const lease = (spec: JsonObject) => object("coordination.k8s.io/v1", "Lease", { spec });

it.each<{ spec: JsonObject; want: readonly string[] }>([
  { spec: {}, want: [] },
  { spec: { leaseDurationSeconds: 15, leaseTransitions: 0 }, want: [] },
  { spec: { leaseDurationSeconds: 0 }, want: ["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"] },
  {
    spec: { leaseTransitions: -1 },
    want: ["spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"],
  },
])("$spec", ({ spec, want }) => {
  expect(faults(create(Lease, lease(spec)))).toEqual(want);
});

it("has fields of coordinated election only where they were before", () => {
  const spec = { strategy: "OldestEmulationVersion", preferredHolder: "me" };
  const plain = create(Lease, lease(spec)).object ?? {};
  expect(plain.spec).toEqual({});
  expect(update(Lease, plain, lease(spec)).object?.spec).toEqual({});
  expect(update(Lease, { ...plain, spec }, lease(spec)).object?.spec).toEqual(spec);
});

it("may be created by a PUT, but not replaced unseen", () => {
  expect(Lease.update).toMatchObject({ allowCreate: true, allowUnconditional: false });
});
