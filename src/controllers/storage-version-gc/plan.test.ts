import { describe, expect, it } from "vitest";
import { type apiserverinternal, optional } from "#api";
import { isIdentity, planStorageVersion } from "./plan.ts";

type StorageVersion = apiserverinternal.StorageVersion;
type Status = apiserverinternal.StorageVersionStatus;

const BEFORE = "2029-01-01T00:00:00Z";
const TIME = "2030-01-01T00:00:00Z";
const entry = (apiServerID: string, encodingVersion = "v1") => ({
  apiServerID,
  encodingVersion,
  decodableVersions: [encodingVersion],
});
const condition = (status: "True" | "False", lastTransitionTime = TIME) => ({
  type: "AllEncodingVersionsEqual",
  status,
  observedGeneration: 3,
  lastTransitionTime,
  reason: status === "True" ? "CommonEncodingVersionSet" : "CommonEncodingVersionUnset",
  message: status === "True" ? "Common encoding version set" : "Common encoding version unset",
});
const version = (status: Status): StorageVersion => ({
  metadata: { name: "apps.deployments", generation: 3 },
  spec: {},
  status,
});

describe("what is left of a StorageVersion", () => {
  it.each<{ name: string; living: readonly string[]; status: Status; want: Status | "deleted" | undefined }>([
    { name: "no entry", living: [], status: {}, want: undefined },
    { name: "all live", living: ["a", "b"], status: { storageVersions: [entry("a"), entry("b")] }, want: undefined },
    { name: "none lives", living: [], status: { storageVersions: [entry("a"), entry("b")] }, want: "deleted" },
    {
      name: "one of two that agreed: its condition keeps its time",
      living: ["b"],
      status: {
        storageVersions: [entry("a"), entry("b")],
        commonEncodingVersion: "v1",
        conditions: [condition("True", BEFORE)],
      },
      want: { storageVersions: [entry("b")], commonEncodingVersion: "v1", conditions: [condition("True", BEFORE)] },
    },
    {
      name: "one of two that did not agree",
      living: ["b"],
      status: { storageVersions: [entry("a", "v2"), entry("b")], conditions: [condition("False", BEFORE)] },
      want: { storageVersions: [entry("b")], commonEncodingVersion: "v1", conditions: [condition("True")] },
    },
    {
      name: "two of three that do not agree",
      living: ["b", "c"],
      status: {
        storageVersions: [entry("a"), entry("b"), entry("c", "v2")],
        conditions: [condition("False", BEFORE)],
      },
      want: { storageVersions: [entry("b"), entry("c", "v2")], conditions: [condition("False", BEFORE)] },
    },
    {
      name: "another common version is a transition, too",
      living: ["b"],
      status: {
        storageVersions: [entry("a", "v2"), entry("b")],
        commonEncodingVersion: "v2",
        conditions: [condition("True", BEFORE)],
      },
      want: { storageVersions: [entry("b")], commonEncodingVersion: "v1", conditions: [condition("True")] },
    },
    {
      name: "other conditions stay",
      living: ["b"],
      status: {
        storageVersions: [entry("a"), entry("b")],
        conditions: [{ ...condition("True", BEFORE), type: "Other" }],
      },
      want: {
        storageVersions: [entry("b")],
        commonEncodingVersion: "v1",
        conditions: [{ ...condition("True", BEFORE), type: "Other" }, condition("True")],
      },
    },
  ])("$name", ({ living, status, want }) => {
    const object = version(status);
    const resource = optional.StorageVersion;
    const write =
      want === "deleted"
        ? { verb: "delete", resource, object, unchanged: true }
        : { verb: "updateStatus", resource, object: { ...object, status: want } };
    const plan = planStorageVersion(object, new Set(living), Date.parse(TIME));
    expect(plan).toEqual(want === undefined ? undefined : { steps: [[write]] });
  });

  it.each([
    [{ "apiserver.kubernetes.io/identity": "kube-apiserver" }, true],
    [{ "apiserver.kubernetes.io/identity": "other" }, false],
    [undefined, false],
  ])("a Lease with the labels %o is a server's: %s", (labels, want) => {
    expect(isIdentity({ metadata: { name: "a", ...(labels && { labels }) } })).toBe(want);
  });
});
