/** Snapshots as `k8ts up` runs them, with the driver for simulated nodes, on virtual time and with real permissions. */
import { expect, it } from "vitest";
import { defaultFeatures, type KubeObject, kinds } from "#api";
import { seededRandom, silentLogger, TaskGroup, uuidSource } from "#base";
import { Client, inProcess } from "#client";
import {
  DRIVER_NAME,
  groupKinds,
  memoryStorage,
  oneForAll,
  restoreSource,
  snapshotKinds,
  TOPOLOGY_KEY,
} from "#storage";
import { DEFAULT_MODES } from "../../apiserver/authz/index.ts";
import { testServer } from "../../apiserver/testing/index.ts";
import { ensureRoles } from "../../controllers/testing/identities.ts";
import { runSnapshots } from "./snapshots.ts";

const LEASE = "snapshot-controller-leader";

async function running() {
  const server = await testServer({ modes: DEFAULT_MODES });
  await ensureRoles(server, defaultFeatures.enabled);
  const { clock, handle } = server;
  const user = { name: "admin", groups: ["system:masters"] };
  const client = new Client({ transport: inProcess(handle, user), clock });
  const storage = memoryStorage({ version: "1", clock, newId: uuidSource(), nodes: () => ["n1", "n2"] });
  const tasks = new TaskGroup();
  const drivers = oneForAll(DRIVER_NAME, storage.controller);
  const options = { handle, elects: false, drivers, clock, random: seededRandom(1), log: silentLogger };
  const start = async () => {
    tasks.run("snapshots", (signal) => runSnapshots(options, signal));
    await server.settle();
  };
  const volume = async (name: string) => {
    const { volume: made } = await storage.controller.Controller.CreateVolume({
      name,
      capacityRange: { requiredBytes: 1024 ** 3 },
      volumeCapabilities: [{ mount: { fsType: "ext4" }, accessMode: { mode: 1 } }],
      accessibilityRequirements: { requisite: [{ segments: { [TOPOLOGY_KEY]: "n2" } }] },
    });
    await boundClaim(client, name, made?.volumeId ?? "");
  };
  const snapshot = async (name: string, claim: string) => {
    const { apiVersion, kind } = snapshotKinds.VolumeSnapshot;
    const source = { persistentVolumeClaimName: claim };
    const all = client.of(snapshotKinds.VolumeSnapshot).in("default");
    await all.create({ apiVersion, kind, metadata: { name }, spec: { source } });
    await server.settle();
    return all.get(name);
  };
  return {
    ...{ server, clock, client, storage, start, volume, snapshot },
    [Symbol.asyncDispose]: async () => {
      await tasks.stop();
      await client.close();
      await server.close();
    },
  };
}

async function boundClaim(client: Client, name: string, volumeHandle: string): Promise<void> {
  const both = { accessModes: ["ReadWriteOnce"] as const, storageClassName: "", volumeMode: "Filesystem" as const };
  const requests = { storage: "1Gi" };
  const claims = client.of(kinds.PersistentVolumeClaim).in("default");
  const spec = { ...both, volumeName: name, resources: { requests } };
  const claim = await claims.create({ metadata: { name, labels: { app: "db" } }, spec });
  await client.of(kinds.PersistentVolume).create({
    metadata: { name },
    spec: {
      ...both,
      capacity: requests,
      csi: { driver: DRIVER_NAME, volumeHandle },
      claimRef: { namespace: "default", name, uid: claim.metadata.uid ?? "" },
    },
  });
  await claims.updateStatus({ ...claim, status: { phase: "Bound", capacity: requests } });
}

it("a snapshot of the driver's volume becomes ready, and another volume is made of it", async () => {
  await using cluster = await running();
  await cluster.start();
  await cluster.volume("data");
  const snapshot = await cluster.snapshot("snap", "data");
  expect(snapshot.status).toMatchObject({ readyToUse: true, restoreSize: "1Gi" });
  const name = snapshot.status?.boundVolumeSnapshotContentName ?? "";
  const contents = cluster.client.of(snapshotKinds.VolumeSnapshotContent);
  const found = restoreSource(snapshot, await contents.get(name), DRIVER_NAME);
  if (!found.ok) throw new Error(found.reason);
  const { snapshotHandle: snapshotId } = found.source;
  const { volume } = await cluster.storage.controller.Controller.CreateVolume({
    name: "restored",
    capacityRange: { requiredBytes: 1024 ** 3 },
    volumeCapabilities: [{ mount: { fsType: "ext4" }, accessMode: { mode: 1 } }],
    volumeContentSource: { snapshot: { snapshotId } },
  });
  expect(volume?.contentSource?.snapshot).toEqual({ snapshotId });
  await cluster.client.of(snapshotKinds.VolumeSnapshot).in("default").delete("snap");
  await cluster.server.settle();
  expect((await contents.list()).items).toEqual([]);
  expect((await cluster.storage.controller.Controller.ListSnapshots({})).entries).toEqual([]);
});

it("a group snapshot of the driver's volumes becomes ready, and goes with its members", async () => {
  await using cluster = await running();
  await cluster.start();
  await cluster.volume("a");
  await cluster.volume("b");
  const { VolumeGroupSnapshot: Group, VolumeGroupSnapshotClass: Class } = groupKinds;
  const named = ({ apiVersion, kind }: { apiVersion: string; kind: string }, name: string) => ({
    apiVersion,
    kind,
    metadata: { name },
  });
  await cluster.client.of(Class).create({ ...named(Class, "all"), driver: DRIVER_NAME, deletionPolicy: "Delete" });
  const groups = cluster.client.of(Group).in("default");
  const source = { selector: { matchLabels: { app: "db" } } };
  await groups.create({ ...named(Group, "all"), spec: { source, volumeGroupSnapshotClassName: "all" } });
  await cluster.server.settle();
  expect((await groups.get("all")).status).toMatchObject({ readyToUse: true });
  const members = cluster.client.of(snapshotKinds.VolumeSnapshot).in("default");
  expect((await members.list()).items.map(({ status }) => status?.readyToUse)).toEqual([true, true]);
  await groups.delete("all");
  await cluster.server.settle();
  expect((await members.list()).items).toEqual([]);
  expect((await cluster.storage.controller.Controller.ListSnapshots({})).entries).toEqual([]);
});

it("the default class exists, and a user may take its annotation away", async () => {
  await using cluster = await running();
  const classes = cluster.client.of(snapshotKinds.VolumeSnapshotClass);
  await cluster.start();
  expect(await classes.get("standard")).toMatchObject({
    driver: DRIVER_NAME,
    deletionPolicy: "Delete",
    metadata: { annotations: { "snapshot.storage.kubernetes.io/is-default-class": "true" } },
  });
  await classes.patch("standard", { type: "merge", object: { metadata: { annotations: null } } });
  await cluster.start();
  expect((await classes.get("standard")).metadata.annotations).toBeUndefined();
});

it("another installation that holds the lease works instead, until it is gone", async () => {
  await using cluster = await running();
  const { client, clock, server } = cluster;
  const leases = client.of(kinds.Lease).in("storage");
  await client.of(kinds.Namespace).create({ metadata: { name: "storage" } } as KubeObject as never);
  const lease = await leases.create({
    metadata: { name: LEASE },
    spec: { holderIdentity: "theirs", leaseDurationSeconds: 15 },
  });
  await cluster.start();
  await cluster.volume("data");
  expect((await cluster.snapshot("snap", "data")).status).toBeUndefined();
  // It renews: still theirs.
  await clock.advance(10_000);
  await leases.update({ ...lease, spec: { ...lease.spec, renewTime: "2026-01-01T00:00:00.000000Z" } });
  await server.settle();
  await clock.advance(14_000);
  await server.settle();
  const snapshots = client.of(snapshotKinds.VolumeSnapshot).in("default");
  expect((await snapshots.get("snap")).status).toBeUndefined();
  await clock.advance(2_000);
  await server.settle();
  expect((await snapshots.get("snap")).status).toMatchObject({ readyToUse: true });
  // It is back: what is new is theirs.
  await leases.patch(LEASE, { type: "merge", object: { spec: { leaseTransitions: 2 } } });
  await server.settle();
  expect((await cluster.snapshot("second", "data")).status).toBeUndefined();
});
