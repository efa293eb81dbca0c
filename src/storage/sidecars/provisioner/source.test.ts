import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { isGranted, sourceOfClone, sourceOfSnapshot, sourceReference } from "./source.ts";

const GROUP = "snapshot.storage.k8s.io";
const asking = (storage: string, spec: core.PersistentVolumeClaimSpec = {}): core.PersistentVolumeClaim => ({
  metadata: { name: "new", namespace: "default" },
  spec: { resources: { requests: { storage } }, ...spec },
});
const factsOf = (claim: core.PersistentVolumeClaim) => ({
  claim,
  driverName: "d",
  nodeTopologyKey: "node",
  preventModeConversion: true,
});

describe("the source of a claim", () => {
  const snapshot = { apiGroup: GROUP, kind: "VolumeSnapshot", name: "s" };
  it.each([
    ["nothing", {}, false, undefined],
    [
      "a claim",
      { dataSource: { kind: "PersistentVolumeClaim", name: "a" } },
      false,
      { kind: "PersistentVolumeClaim", namespace: "default" },
    ],
    ["a snapshot", { dataSourceRef: snapshot }, false, { kind: "VolumeSnapshot", group: GROUP, namespace: "default" }],
    ["another kind", { dataSourceRef: { apiGroup: "example.com", kind: "Tape", name: "t" } }, false, "populator"],
    ["of another namespace", { dataSourceRef: { ...snapshot, namespace: "other" } }, true, { namespace: "other" }],
  ] as const)("%s", (_, spec, gate, want) => {
    const found = sourceReference(asking("1Gi", spec), gate);
    if (typeof want === "object") expect(found).toMatchObject(want);
    else expect(found).toBe(want);
  });

  it("of another namespace needs the gate", () => {
    const claim = asking("1Gi", { dataSourceRef: { ...snapshot, namespace: "other" } });
    expect(() => sourceReference(claim, false)).toThrow("CrossNamespaceVolumeDataSource");
  });

  it.each([
    ["of the kind", { kind: "VolumeSnapshot", group: GROUP }, "default", true],
    ["of the name", { kind: "VolumeSnapshot", group: GROUP, name: "s" }, "default", true],
    ["of another name", { kind: "VolumeSnapshot", group: GROUP, name: "x" }, "default", false],
    ["of another kind", { kind: "PersistentVolumeClaim", group: "" }, "default", false],
    ["for another namespace", { kind: "VolumeSnapshot", group: GROUP }, "evil", false],
  ])("a grant %s", (_, to, namespace, want) => {
    const grant = {
      metadata: {},
      spec: { from: [{ group: "", kind: "PersistentVolumeClaim", namespace: "default" }], to: [to] },
    };
    expect(isGranted(grant, { group: GROUP, kind: "VolumeSnapshot", name: "s", namespace: "x" }, namespace)).toBe(want);
  });
});

describe("a clone", () => {
  const source: core.PersistentVolumeClaim = {
    metadata: { name: "old", namespace: "default", uid: "u" },
    spec: { resources: { requests: { storage: "1Gi" } }, volumeName: "pv" },
    status: { phase: "Bound" },
  };
  const volume: core.PersistentVolume = {
    metadata: { name: "pv" },
    spec: {
      csi: { driver: "d", volumeHandle: "h" },
      claimRef: { namespace: "default", name: "old", uid: "u" },
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: "node", operator: "In", values: ["n1"] }] }] },
      },
    },
    status: { phase: "Bound" },
  };

  it("has the volume and its node", () => {
    expect(sourceOfClone(source, volume, factsOf(asking("2Gi")))).toMatchObject({
      content: { volume: { volumeId: "h" } },
      node: "n1",
    });
  });

  it.each<[string, Partial<core.PersistentVolumeSpec>, core.PersistentVolumeClaim, string]>([
    ["that is smaller", {}, asking("1Mi"), "must be greater than or equal in size"],
    ["of another driver", { csi: { driver: "x", volumeHandle: "h" } }, asking("1Gi"), "not bound or invalid"],
    [
      "of a volume of another claim",
      { claimRef: { namespace: "default", uid: "v" } },
      asking("1Gi"),
      "not bound or invalid",
    ],
    ["of another mode", { volumeMode: "Block" }, asking("1Gi"), "Source is Block, but new PVC requested Filesystem"],
  ])("is refused: %s", (_, spec, claim, why) => {
    const other = { ...volume, spec: { ...volume.spec, ...spec } };
    expect(() => sourceOfClone(source, other, factsOf(claim))).toThrow(why);
  });
});

describe("a restored snapshot", () => {
  const snapshot = {
    metadata: { name: "s", namespace: "default", uid: "u" },
    status: { boundVolumeSnapshotContentName: "c", readyToUse: true, restoreSize: "1Gi" },
  };
  const content = {
    metadata: { name: "c", annotations: { "snapshot.k8ts.dev/node": "n2" } },
    spec: {
      driver: "d",
      sourceVolumeMode: "Filesystem",
      volumeSnapshotRef: { name: "s", namespace: "default", uid: "u" },
    },
    status: { snapshotHandle: "h" },
  };
  const read = (claim = asking("1Gi"), of = {}, more = {}) =>
    sourceOfSnapshot({ ...snapshot, ...of }, { ...content, ...more }, factsOf(claim));

  it("has the snapshot and its node", () => {
    expect(read()).toEqual({ content: { snapshot: { snapshotId: "h" } }, node: "n2" });
  });

  it.each([
    ["too small", () => read(asking("1Mi")), "is less than the size"],
    ["not ready", () => read(undefined, { status: { ...snapshot.status, readyToUse: false } }), "is not Ready"],
    ["of another driver", () => read(undefined, {}, { spec: { ...content.spec, driver: "x" } }), "not bound"],
    ["bound to another", () => read(undefined, { metadata: { ...snapshot.metadata, uid: "v" } }), "not bound"],
    ["without a handle", () => read(undefined, {}, { status: {} }), "is not available"],
    ["of another mode", () => read(asking("1Gi", { volumeMode: "Block" })), "does not have permission"],
  ])("is refused: %s", (_, work, why) => {
    expect(work).toThrow(why);
  });
});
