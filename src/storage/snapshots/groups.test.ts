/** Group snapshots from the claims to the driver and back, and drivers with a controller on each node. */
import { afterEach, expect, it } from "vitest";
import { GrpcError } from "#grpc";
import type { DriverControllers } from "../sidecars/driver-controllers.ts";
import { groupKinds } from "./objects/group-kinds.ts";
import { snapshotKinds } from "./objects/kinds.ts";
import { annotations, finalizers, writtenNode } from "./objects/names.ts";
import { restoreSource } from "./restore.ts";
import { type ScriptedController, scriptedController } from "./testing/scripted-controller.ts";
import {
  DRIVER,
  groupSnapshot,
  type SnapshotCluster,
  snapshotCluster,
  TOPOLOGY_KEY,
} from "./testing/snapshot-cluster.ts";

let cluster: SnapshotCluster;
afterEach(() => cluster.close());

const { VolumeGroupSnapshot: Group, VolumeGroupSnapshotContent: Content, VolumeGroupSnapshotClass: Class } = groupKinds;
const labels = { app: "db" };
const ofDb = { source: { selector: { matchLabels: labels } } };

async function groupClass(deletionPolicy: "Delete" | "Retain" = "Delete"): Promise<void> {
  const { apiVersion, kind } = Class;
  const metadata = { name: "groups", annotations: { [annotations.defaultGroupClass]: "true" } };
  await cluster.client.of(Class).create({ apiVersion, kind, metadata, driver: DRIVER, deletionPolicy });
}

const group = async (name: string) =>
  (await cluster.client.of(Group).in("default").list()).items.find((each) => each.metadata.name === name);
const groupContents = async () => (await cluster.client.of(Content).list()).items;
const members = async () => (await cluster.client.of(snapshotKinds.VolumeSnapshot).in("default").list()).items;

it("the claims of a selector are snapshot together, each with a snapshot of its own", async () => {
  cluster = await snapshotCluster();
  await groupClass();
  await cluster.claim("a", { labels });
  await cluster.claim("b", { labels });
  await cluster.claim("other");
  await groupSnapshot(cluster, "all", ofDb);
  expect(await group("all")).toMatchObject({
    metadata: { finalizers: [finalizers.groupBound] },
    spec: { volumeGroupSnapshotClassName: "groups" },
    status: { readyToUse: true },
  });
  const [content, ...others] = await groupContents();
  expect(others).toEqual([]);
  expect(content).toMatchObject({
    spec: { driver: DRIVER, source: { volumeHandles: ["vol-a", "vol-b"] } },
    status: { readyToUse: true },
  });
  expect(content?.status?.volumeSnapshotInfoList).toHaveLength(2);
  const made = await members();
  expect(made.map(({ spec }) => spec.source.persistentVolumeClaimName).sort()).toEqual(["a", "b"]);
  for (const member of made) {
    expect(member.status).toMatchObject({ readyToUse: true, restoreSize: "1Gi", volumeGroupSnapshotName: "all" });
    expect(member.metadata.ownerReferences).toMatchObject([{ kind: "VolumeGroupSnapshot", name: "all" }]);
    const of = await cluster.contentOf(member.status?.boundVolumeSnapshotContentName ?? "");
    expect(restoreSource(member, of, DRIVER)).toMatchObject({ ok: true });
  }
  expect(cluster.driver.calls.map(({ method }) => method)).toEqual(["CreateVolumeGroupSnapshot"]);
  expect((await cluster.events()).filter((each) => each.includes("Group"))).toEqual([
    "CreatingGroupSnapshot: Waiting for a group snapshot default/all to be created by the CSI driver.",
    "GroupSnapshotCreated: GroupSnapshot default/all was successfully created by the CSI driver.",
    "GroupSnapshotReady: GroupSnapshot default/all is ready to use.",
  ]);
});

it("a member goes with its group, and not before", async () => {
  cluster = await snapshotCluster();
  await groupClass();
  await cluster.claim("a", { labels });
  await groupSnapshot(cluster, "all", ofDb);
  const [member] = await members();
  await cluster.remove(member?.metadata.name ?? "");
  expect(await members()).toHaveLength(1);
  expect((await cluster.events()).join("\n")).toContain("is not allowed as it belongs to group snapshot default/all");
  await cluster.client.of(Group).in("default").delete("all");
  await cluster.settle();
  expect(await group("all")).toBeUndefined();
  expect(await groupContents()).toEqual([]);
  expect(await members()).toEqual([]);
  expect(await cluster.contents()).toEqual([]);
  expect(cluster.driver.snapshots.size).toBe(0);
  expect(cluster.driver.calls.map(({ method }) => method)).not.toContain("DeleteSnapshot");
});

it("a group with the policy Retain leaves the storage system as it is", async () => {
  cluster = await snapshotCluster();
  await groupClass("Retain");
  await cluster.claim("a", { labels });
  await groupSnapshot(cluster, "all", ofDb);
  await cluster.client.of(Group).in("default").delete("all");
  await cluster.settle();
  expect(await group("all")).toBeUndefined();
  expect(await members()).toEqual([]);
  expect(await groupContents()).toHaveLength(1);
  expect(await cluster.contents()).toHaveLength(1);
  expect(cluster.driver.snapshots.size).toBe(1);
});

it("a group that exists is bound to the content that is reserved for it", async () => {
  cluster = await snapshotCluster();
  const { GroupController } = cluster.driver.driver;
  await GroupController.CreateVolumeGroupSnapshot({ name: "old", sourceVolumeIds: ["vol-a"] });
  const { apiVersion, kind } = Content;
  const handles = { volumeGroupSnapshotHandle: "group-old", volumeSnapshotHandles: ["snap-old-vol-a"] };
  const ref = { namespace: "default", name: "all" };
  const spec = { driver: DRIVER, deletionPolicy: "Delete", source: { groupSnapshotHandles: handles } } as const;
  await cluster.client.of(Content).create({
    apiVersion,
    kind,
    metadata: { name: "given" },
    spec: { ...spec, volumeGroupSnapshotRef: ref },
  });
  await groupSnapshot(cluster, "all", { source: { volumeGroupSnapshotContentName: "given" } });
  expect((await group("all"))?.status).toMatchObject({
    boundVolumeGroupSnapshotContentName: "given",
    readyToUse: true,
  });
  await groupSnapshot(cluster, "thief", { source: { volumeGroupSnapshotContentName: "given" } });
  expect((await group("thief"))?.status?.error?.message).toBe(
    "VolumeGroupSnapshotContent [given] is bound to a different group snapshot",
  );
  await cluster.client.of(Group).in("default").delete("all");
  await cluster.settle();
  expect(cluster.driver.snapshots.size).toBe(0);
  expect(await groupContents()).toEqual([]);
});

it.each([
  ["no group", { groupSnapshot: null }, "the driver's answer has no group snapshot"],
  [
    "a volume is missing",
    { groupSnapshot: { groupSnapshotId: "g", snapshots: [], creationTime: null, readyToUse: true } },
    "not of all that it should be",
  ],
])("garbage about a group is not believed: %s", async (_, answer, words) => {
  cluster = await snapshotCluster();
  await groupClass();
  await cluster.claim("a", { labels });
  cluster.driver.script("CreateVolumeGroupSnapshot", () => answer);
  await groupSnapshot(cluster, "all", ofDb);
  expect((await group("all"))?.status?.error?.message).toContain(words);
  cluster.driver.script("CreateVolumeGroupSnapshot", undefined);
  await cluster.clock.advance(2_000);
  await cluster.settle();
  expect((await group("all"))?.status).toMatchObject({ readyToUse: true });
});

it("a driver without groups is reported", async () => {
  cluster = await snapshotCluster();
  await groupClass();
  await cluster.claim("a", { labels });
  cluster.driver.script("CreateVolumeGroupSnapshot", () => {
    throw new GrpcError("UNIMPLEMENTED", "unknown service csi.v1.GroupController");
  });
  await groupSnapshot(cluster, "all", ofDb);
  expect((await group("all"))?.status?.error?.message).toBe(
    'Failed to create group snapshot: failed to take group snapshot of the volumes [vol-a]: "rpc error: code = Unimplemented desc = unknown service csi.v1.GroupController"',
  );
  await cluster.client.of(Group).in("default").delete("all");
  await cluster.settle();
  expect(await groupContents()).toEqual([]);
  expect(await group("all")).toBeUndefined();
});

/** A driver with a controller on each of two nodes. */
interface Local {
  readonly nodes: Map<string, ScriptedController>;
  readonly away: Set<string>;
  changed(): void;
}

async function localCluster(): Promise<Local> {
  const nodes = new Map<string, ScriptedController>();
  const away = new Set<string>();
  const listeners = new Set<() => void>();
  const controllers: DriverControllers = {
    driverName: DRIVER,
    nodeTopologyKey: TOPOLOGY_KEY,
    nodes: () => [...nodes.keys()].filter((node) => !away.has(node)),
    of: (node = "") => (away.has(node) ? undefined : nodes.get(node)?.driver),
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  cluster = await snapshotCluster({ drivers: () => controllers });
  for (const node of ["n1", "n2"]) nodes.set(node, scriptedController({ clock: cluster.clock, node: `${node}/` }));
  return { nodes, away, changed: () => listeners.forEach((listener) => void listener()) };
}

it("the snapshots of node-local volumes are made where the volume is, and deleted there when the volume is gone", async () => {
  const { nodes } = await localCluster();
  await cluster.claim("data", { node: "n2" });
  await cluster.snapshot("snap", { source: { persistentVolumeClaimName: "data" } });
  const content = await cluster.onlyContent();
  expect(writtenNode(content)).toBe("n2");
  expect(restoreSource(await cluster.get("snap"), content, DRIVER)).toMatchObject({ source: { node: "n2" } });
  expect(nodes.get("n1")?.calls).toEqual([]);
  const { PersistentVolume } = (await import("#api")).kinds;
  await cluster.client.of(PersistentVolume).delete("pv-data");
  await cluster.remove("snap");
  expect(await cluster.contents()).toEqual([]);
  expect(nodes.get("n2")?.snapshots.size).toBe(0);
});

it("a node that is away is waited for, and asked at once when it is back", async () => {
  const { nodes, away, changed } = await localCluster();
  away.add("n2");
  await cluster.claim("data", { node: "n2" });
  await cluster.snapshot("snap", { source: { persistentVolumeClaimName: "data" } });
  expect((await cluster.get("snap"))?.status?.error?.message).toContain(
    `the CSI driver ${DRIVER} is not reachable on node n2`,
  );
  await cluster.clock.advance(60_000);
  away.delete("n2");
  changed();
  await cluster.settle();
  expect((await cluster.get("snap"))?.status).toMatchObject({ readyToUse: true });
  expect(nodes.get("n1")?.calls).toEqual([]);
});

it("the node of a snapshot that exists is found by asking all", async () => {
  const { nodes } = await localCluster();
  await nodes.get("n2")?.driver.Controller.CreateSnapshot({ name: "old", sourceVolumeId: "vol-data" });
  await cluster.content("given", {
    driver: DRIVER,
    deletionPolicy: "Delete",
    source: { snapshotHandle: "n2/snap-old" },
    volumeSnapshotRef: { namespace: "default", name: "snap" },
  });
  await cluster.snapshot("snap", { source: { volumeSnapshotContentName: "given" } });
  expect(writtenNode(await cluster.onlyContent())).toBe("n2");
  expect((await cluster.get("snap"))?.status).toMatchObject({ readyToUse: true });
  await cluster.remove("snap");
  expect(nodes.get("n2")?.snapshots.size).toBe(0);
});

it("volumes on several nodes have no common snapshot", async () => {
  await localCluster();
  await groupClass();
  await cluster.claim("a", { labels, node: "n1" });
  await cluster.claim("b", { labels, node: "n2" });
  await groupSnapshot(cluster, "all", ofDb);
  expect((await group("all"))?.status?.error?.message).toContain("the volumes are on several nodes (n1, n2)");
});
