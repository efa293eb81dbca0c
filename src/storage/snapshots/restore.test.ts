/** What a volume is restored from, as a table. */
import { expect, it } from "vitest";
import type { VolumeSnapshot, VolumeSnapshotContent } from "./objects/kinds.ts";
import { restoreSource } from "./restore.ts";

const snapshot = {
  metadata: { namespace: "shop", name: "daily", uid: "u" },
  spec: { source: { persistentVolumeClaimName: "data" } },
  status: { boundVolumeSnapshotContentName: "c", readyToUse: true, restoreSize: "1Gi" },
} satisfies VolumeSnapshot;
const content = {
  metadata: { name: "c", annotations: { "snapshot.k8ts.dev/node": "n2" } },
  spec: {
    driver: "example.com",
    deletionPolicy: "Delete",
    source: { volumeHandle: "v" },
    volumeSnapshotRef: { namespace: "shop", name: "daily", uid: "u" },
    sourceVolumeMode: "Block",
  },
  status: { snapshotHandle: "s1", restoreSize: 1024, readyToUse: true },
} satisfies VolumeSnapshotContent;

it("a bound and ready snapshot has what is needed", () => {
  const source = { snapshotHandle: "s1", restoreSizeBytes: 1024, node: "n2", sourceVolumeMode: "Block" };
  expect(restoreSource(snapshot, content, "example.com")).toEqual({ ok: true, source });
});

type Case = readonly [string, VolumeSnapshot | undefined, VolumeSnapshotContent | undefined, string, boolean];

it.each<Case>([
  ["it does not exist", undefined, undefined, "does not exist", false],
  ["it is not bound", { ...snapshot, status: {} }, undefined, "is not bound", false],
  ["its content does not exist", snapshot, undefined, "the VolumeSnapshotContent c of snapshot shop/daily", false],
  ["another content", snapshot, { ...content, metadata: { name: "d" } }, "does not exist", false],
  [
    "the content of another snapshot",
    snapshot,
    { ...content, spec: { ...content.spec, volumeSnapshotRef: { ...content.spec.volumeSnapshotRef, uid: "v" } } },
    "is bound to a different snapshot",
    true,
  ],
  ["another driver", snapshot, { ...content, spec: { ...content.spec, driver: "other" } }, "by the driver other", true],
  [
    "it is not ready",
    { ...snapshot, status: { ...snapshot.status, readyToUse: false } },
    content,
    "is not Ready",
    false,
  ],
  ["it has no handle", snapshot, { ...content, status: {} }, "is not available", false],
  [
    "it is being deleted",
    { ...snapshot, metadata: { ...snapshot.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
    content,
    "is currently being deleted",
    true,
  ],
])("not restorable: %s", (_, of, its, words, isFinal) => {
  const found = restoreSource(of, its, "example.com");
  expect(found).toMatchObject({ ok: false, reason: expect.stringContaining(words), isFinal });
});
