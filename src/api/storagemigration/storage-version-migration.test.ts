import { expect, it } from "vitest";
import { faults, object } from "../apps/testing/builders.ts";
import { create, update } from "../apps/testing/run-rules.ts";
import { at } from "../machinery/errors/field-error.ts";
import type { JsonObject } from "../machinery/json/json.ts";
import type { StorageVersionMigration as MigrationObject } from "../types/storagemigration-v1beta1.ts";
import { StorageVersionMigration } from "./index.ts";

const migration = (resource: JsonObject, status?: JsonObject) =>
  object("storagemigration.k8s.io/v1beta1", "StorageVersionMigration", {
    spec: { resource },
    ...(status === undefined ? {} : { status }),
  });
const pods = { group: "", resource: "pods" };

it("names a resource, and keeps it", () => {
  expect(faults(create(StorageVersionMigration, migration({ group: "apps" })))).toEqual([
    "spec.resource.resource: Required value: resource is required",
  ]);
  const stored = create(StorageVersionMigration, migration(pods)).object ?? {};
  expect(faults(update(StorageVersionMigration, stored, migration({ group: "apps", resource: "nodes" })))).toEqual([
    'group: Invalid value: "apps": field is immutable',
    'resource: Invalid value: "nodes": field is immutable',
  ]);
});

const condition = (type: string, status = "True") => ({
  type,
  status,
  reason: "R",
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

it.each<{ name: string; old?: JsonObject; next: JsonObject; want: readonly string[] }>([
  { name: "running", next: { resourceVersion: "7", conditions: [condition("Running")] }, want: [] },
  {
    name: "done",
    old: { resourceVersion: "7", conditions: [condition("Running")] },
    next: { resourceVersion: "7", conditions: [condition("Running", "False"), condition("Succeeded")] },
    want: [],
  },
  {
    name: "another revision",
    old: { resourceVersion: "7" },
    next: { resourceVersion: "8" },
    want: ["status.resourceVersion: field is immutable"],
  },
  {
    name: "no revision",
    next: { resourceVersion: "x" },
    want: [
      'status.resourceVersion: failed to parse resource version "x": strconv.ParseInt: parsing "x": invalid syntax',
    ],
  },
  {
    name: "both outcomes",
    next: { conditions: [condition("Succeeded"), condition("Failed")] },
    want: ["status.conditions: Both success and failed conditions cannot be true at the same time"],
  },
  {
    name: "running and done",
    next: { conditions: [condition("Running"), condition("Succeeded")] },
    want: ["status.conditions: Running condition cannot be true when success condition is true"],
  },
  {
    name: "not done any more",
    old: { conditions: [condition("Failed")] },
    next: { conditions: [] },
    want: ["status.conditions: Failed condition cannot be set to false once it is true"],
  },
])("status: $name", ({ old = {}, next, want }) => {
  const rules = StorageVersionMigration.subresources?.status;
  const withStatus = (status: JsonObject) => migration(pods, status) as unknown as MigrationObject;
  const errors = (typeof rules === "object" && rules.validate?.(withStatus(next), withStatus(old), at())) || [];
  expect(errors.map(({ field, detail }) => `${field}: ${detail}`)).toEqual(want);
});

it.each([
  [pods, "pods"],
  [{ group: "apps", resource: "deployments" }, "deployments.apps"],
])("shows %s", (resource, want) => {
  const [column] = StorageVersionMigration.columns ?? [];
  expect(column?.cell(migration(resource) as unknown as MigrationObject, 0)).toBe(want);
});
