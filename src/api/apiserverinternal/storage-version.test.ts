import { expect, it } from "vitest";
import { faults, object } from "../apps/testing/builders.ts";
import { create } from "../apps/testing/run-rules.ts";
import { at } from "../machinery/errors/field-error.ts";
import type { JsonObject } from "../machinery/json/json.ts";
import type {
  StorageVersion as StorageVersionObject,
  StorageVersionStatus,
} from "../types/apiserverinternal-v1alpha1.ts";
import { StorageVersion } from "./index.ts";
import { validateStorageVersionStatus } from "./validation.ts";

const named = (name: string) =>
  object("internal.apiserver.k8s.io/v1alpha1", "StorageVersion", { spec: {}, status: {} }, { name });

it("is named after its resource", () => {
  expect(faults(create(StorageVersion, named("apps.deployments")))).toEqual([]);
  expect(faults(create(StorageVersion, named("deployments")))).toEqual([
    'metadata.name: Invalid value: "deployments": name must be in the form of <group>.<resource>',
  ]);
  expect(faults(create(StorageVersion, named("apps.7")))[0]).toMatch(/the resource segment a DNS-1035 label/);
});

const server = (apiServerID: string, encodingVersion: string, more: JsonObject = {}) => ({
  apiServerID,
  encodingVersion,
  decodableVersions: ["apps/v1", "v1"],
  ...more,
});

it.each<{ name: string; status: JsonObject; want: readonly string[] }>([
  { name: "nothing yet", status: {}, want: [] },
  {
    name: "all agree",
    status: { storageVersions: [server("a", "v1"), server("b", "v1")], commonEncodingVersion: "v1" },
    want: [],
  },
  { name: "they differ", status: { storageVersions: [server("a", "v1"), server("b", "apps/v1")] }, want: [] },
  {
    name: "they differ, and a common version is claimed",
    status: { storageVersions: [server("a", "v1"), server("b", "apps/v1")], commonEncodingVersion: "v1" },
    want: [
      "status.commonEncodingVersion: should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet",
    ],
  },
  {
    name: "another one is claimed",
    status: { storageVersions: [server("a", "v1")], commonEncodingVersion: "v2" },
    want: ["status.commonEncodingVersion: the actual common encoding version is v1"],
  },
  {
    name: "none is claimed",
    status: { storageVersions: [server("a", "v1")] },
    want: ["status.commonEncodingVersion: the common encoding version is v1"],
  },
  {
    name: "one server twice",
    status: { storageVersions: [server("a", "v1"), server("a", "v1")], commonEncodingVersion: "v1" },
    want: ["status.storageVersions[1].apiServerID: "],
  },
  {
    name: "versions that do not go together",
    status: {
      storageVersions: [server("a", "v2", { servedVersions: ["v3"] })],
      commonEncodingVersion: "v2",
    },
    want: [
      "status.storageVersions[0].decodableVersions: decodableVersions must include encodingVersion v2",
      "status.storageVersions[0].servedVersions[0]: individual served version : v3 must be included in decodableVersions : [apps/v1 v1]",
    ],
  },
  {
    name: "a version without a name",
    status: {
      storageVersions: [server("a", "apps/", { decodableVersions: ["apps/"] })],
      commonEncodingVersion: "apps/",
    },
    want: [
      "status.storageVersions[0].encodingVersion: version part: must be non-empty",
      "status.storageVersions[0].decodableVersions[0]: version part: must be non-empty",
    ],
  },
  {
    name: "conditions",
    status: { conditions: [{ type: "A", status: "True", reason: "", message: "" }] },
    want: ["status[0].reason: reason cannot be empty", "status[0].message: message cannot be empty"],
  },
])("status: $name", ({ status, want }) => {
  const errors = validateStorageVersionStatus(status as unknown as StorageVersionStatus, at().child("status"));
  expect(errors.map(({ field, detail }) => `${field}: ${detail}`)).toEqual(want);
});

it("shows the servers and what they agree on", () => {
  const status = { storageVersions: [server("a", "v1")], commonEncodingVersion: "v1" };
  const cells = (object: JsonObject) =>
    (StorageVersion.columns ?? [])
      .slice(0, 2)
      .map((column) => column.cell(object as unknown as StorageVersionObject, 0));
  expect(cells({ metadata: {}, status } as unknown as JsonObject)).toEqual(["v1", "a=v1"]);
  expect(cells({ metadata: {} })).toEqual(["<unset>", "<unset>"]);
});
