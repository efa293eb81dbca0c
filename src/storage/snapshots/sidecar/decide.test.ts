/** What the sidecar decides, as a table. */
import { describe, expect, it } from "vitest";
import type { VolumeGroupSnapshotContent } from "../objects/group-kinds.ts";
import type { VolumeSnapshotContent } from "../objects/kinds.ts";
import { annotations, finalizers } from "../objects/names.ts";
import { type Action, decide } from "./decide.ts";
import { decideGroup, type GroupAction } from "./decide-group.ts";

const marked = (...names: readonly string[]) => ({
  annotations: Object.fromEntries(names.map((each) => [each, "yes"])),
});
const { beingCreated, beingDeleted, groupBeingCreated, groupBeingDeleted, groupHandle } = annotations;
const deleted = { deletionTimestamp: "2026-01-01T00:00:00Z" };
const held = { finalizers: [finalizers.content] };
const made = { volumeHandle: "v" };
const given = { snapshotHandle: "s" };

interface Given {
  readonly metadata?: object;
  readonly source?: object;
  readonly policy?: "Retain";
  readonly uid?: string;
  readonly status?: object;
}

function content({ metadata = {}, source = made, policy, uid = "u", status }: Given): VolumeSnapshotContent {
  const volumeSnapshotRef = { namespace: "n", name: "s", uid };
  const spec = { driver: "d", deletionPolicy: policy ?? "Delete", source, volumeSnapshotRef };
  return {
    metadata: { name: "c", ...metadata },
    spec,
    ...(status !== undefined && { status }),
  } as VolumeSnapshotContent;
}

describe("a content", () => {
  it.each<[string, Given, Action]>([
    ["new: the attempt is written down first", {}, { kind: "mark" }],
    ["marked", { metadata: marked(beingCreated) }, { kind: "create", volumeHandle: "v", isFirst: true }],
    ["refused for good: marked anew", { status: { error: {} } }, { kind: "mark" }],
    [
      "not ready yet",
      { metadata: marked(beingCreated), status: { snapshotHandle: "s", readyToUse: false } },
      { kind: "create", volumeHandle: "v", isFirst: false },
    ],
    ["ready", { status: { readyToUse: true } }, { kind: "nothing" }],
    ["ready, and still marked", { metadata: marked(beingCreated), status: { readyToUse: true } }, { kind: "unmark" }],
    ["given", { source: given }, { kind: "check", handle: "s" }],
    ["a member before its group", { metadata: marked(groupHandle) }, { kind: "nothing" }],
    [
      "a member of a group",
      { metadata: marked(groupHandle), status: { snapshotHandle: "m", volumeGroupSnapshotHandle: "g" } },
      { kind: "check", handle: "m" },
    ],
    [
      "deleted by hand: its snapshot is still there",
      { metadata: deleted, status: { readyToUse: true } },
      { kind: "nothing" },
    ],
    [
      "deleted with its snapshot",
      { metadata: { ...deleted, ...held, ...marked(beingDeleted) }, status: { snapshotHandle: "s" } },
      { kind: "delete", handle: "s" },
    ],
    [
      "deleted while it is made",
      { metadata: { ...deleted, ...held, ...marked(beingDeleted, beingCreated) } },
      { kind: "create", volumeHandle: "v", isFirst: true },
    ],
    [
      "deleted and gone",
      { metadata: { ...deleted, ...held, ...marked(beingDeleted) }, status: {} },
      { kind: "release" },
    ],
    [
      "deleted, but to be kept",
      { metadata: { ...deleted, ...held, ...marked(beingDeleted) }, policy: "Retain", status: { snapshotHandle: "s" } },
      { kind: "release" },
    ],
    [
      "deleted with its group",
      {
        metadata: { ...deleted, ...held, ...marked(beingDeleted) },
        status: { snapshotHandle: "s", volumeGroupSnapshotHandle: "g" },
      },
      { kind: "release" },
    ],
    [
      "deleted before it was bound",
      { metadata: { ...deleted, ...held }, source: given, uid: "", status: { snapshotHandle: "s" } },
      { kind: "delete", handle: "s" },
    ],
  ])("%s", (_, about, want) => expect(decide(content(about))).toEqual(want));
});

const handles = { volumeGroupSnapshotHandle: "g", volumeSnapshotHandles: ["a", "b"] };

function groupContent({ metadata = {}, source = { volumeHandles: ["v"] }, uid = "u", status }: Given) {
  const volumeGroupSnapshotRef = { namespace: "n", name: "g", uid };
  const spec = { driver: "d", deletionPolicy: "Delete", source, volumeGroupSnapshotRef };
  return { metadata, spec, ...(status !== undefined && { status }) } as VolumeGroupSnapshotContent;
}

describe("the content of a group", () => {
  it.each<[string, Given, GroupAction]>([
    ["new", {}, { kind: "mark" }],
    ["of nobody", { uid: "" }, { kind: "nothing" }],
    ["marked", { metadata: marked(groupBeingCreated) }, { kind: "create", volumes: ["v"], isFirst: true }],
    ["given", { source: { groupSnapshotHandles: handles } }, { kind: "check", handles }],
    ["ready", { status: { readyToUse: true } }, { kind: "nothing" }],
    [
      "deleted: its members as the driver reported them",
      {
        metadata: { ...deleted, ...marked(groupBeingDeleted) },
        status: { volumeGroupSnapshotHandle: "g", volumeSnapshotInfoList: [{ snapshotHandle: "m" }] },
      },
      { kind: "delete", handle: "g", members: ["m"] },
    ],
    [
      "deleted: its members as they were given",
      {
        metadata: { ...deleted, ...marked(groupBeingDeleted) },
        source: { groupSnapshotHandles: handles },
        status: { volumeGroupSnapshotHandle: "g" },
      },
      { kind: "delete", handle: "g", members: ["a", "b"] },
    ],
    ["deleted by hand", { metadata: deleted, status: { readyToUse: true } }, { kind: "nothing" }],
  ])("%s", (_, about, want) => expect(decideGroup(groupContent(about))).toEqual(want));
});
