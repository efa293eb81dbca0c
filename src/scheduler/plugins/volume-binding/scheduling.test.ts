/**
 * Scheduler and volume controller on one API server: Pods wait for volumes, volumes for Pods, and in the end both are
 * there.
 */

import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds } from "#api";
import { persistentVolumeBinder } from "../../../controllers/persistent-volume/index.ts";
import { testControllers } from "../../../controllers/testing/index.ts";
import { node, pod } from "../../testing/index.ts";
import { schedulingServer, testScheduler } from "../../testing/test-scheduler.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function cluster() {
  const server = await schedulingServer();
  open.push(() => server.close());
  const controllers = await testControllers([persistentVolumeBinder()], { server });
  open.push(() => controllers.close());
  const running = await testScheduler({ server });
  open.push(() => running.close());
  for (const name of ["a", "b", "c"]) await running.addNode(node(name));
  await running.client.of(kinds.StorageClass).create({
    metadata: { name: "local" },
    provisioner: "kubernetes.io/no-provisioner",
    volumeBindingMode: "WaitForFirstConsumer",
  });
  await running.settle();
  return running;
}

/** A disk of one node. */
const local = (name: string, on: string, storageClassName = "local"): core.PersistentVolume => ({
  metadata: { name },
  spec: {
    capacity: { storage: "1Gi" },
    accessModes: ["ReadWriteOnce"],
    storageClassName,
    persistentVolumeReclaimPolicy: "Retain",
    local: { path: "/disk" },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "In", values: [on] }] }],
      },
    },
  },
});

const claim = (name: string, storageClassName = "local"): core.PersistentVolumeClaim => ({
  metadata: { name, namespace: "default" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, storageClassName },
});

const using = (name: string, claimName: string) =>
  pod(name, { spec: { volumes: [{ name: "data", persistentVolumeClaim: { claimName } }] } });

const PREEMPTION =
  "no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.";

describe("Pods and volumes", () => {
  it("the Pod goes where a disk is, and the disk becomes its claim's", async () => {
    const { client, addPod, settle, places } = await cluster();
    await client.of(kinds.PersistentVolume).create(local("disk-b", "b"));
    await client.of(kinds.PersistentVolumeClaim).in("default").create(claim("data"));
    await addPod(using("db", "data"));
    await settle();
    expect(await places()).toEqual({ db: "b" });
    expect(await client.of(kinds.PersistentVolumeClaim).in("default").get("data")).toMatchObject({
      spec: { volumeName: "disk-b" },
      status: { phase: "Bound" },
    });
  });

  it("while a volume is made, the Pod's status names its node, until that fails", async () => {
    const { client, addPod, settle, events, clock, pod: get } = await cluster();
    await client.of(kinds.StorageClass).create({
      metadata: { name: "made" },
      provisioner: "disks.example.com",
      volumeBindingMode: "WaitForFirstConsumer",
    });
    const claims = client.of(kinds.PersistentVolumeClaim).in("default");
    await claims.create(claim("data", "made"));
    await addPod(using("db", "data"));
    await settle();
    await clock.advance(3_000);
    await settle();
    const { annotations } = (await claims.get("data")).metadata;
    const { spec, status } = await get("db");
    expect(spec?.nodeName).toBeUndefined();
    expect(status?.nominatedNodeName).toMatch(/^[abc]$/);
    expect(status?.nominatedNodeName).toBe(annotations?.["volume.kubernetes.io/selected-node"]);
    await clock.advance(597_500);
    expect(await events("db")).toEqual([
      'FailedScheduling: running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded',
    ]);
    expect((await get("db")).status?.nominatedNodeName).toBeUndefined();
  });

  it("a Pod that is preempted while its volume is made stays, and waits", async () => {
    const { client, addNode, addPod, settle, clock, events, places, pod: get } = await cluster();
    for (const name of ["a", "b", "c"]) await client.of(kinds.Node).delete(name);
    await addNode(node("only", { allocatable: { cpu: "1" } }));
    await client.of(kinds.StorageClass).create({
      metadata: { name: "made" },
      provisioner: "disks.example.com",
      volumeBindingMode: "WaitForFirstConsumer",
    });
    await client.of(kinds.PersistentVolumeClaim).in("default").create(claim("data", "made"));
    const db = using("db", "data");
    await addPod(pod("db", { requests: { cpu: "1" }, spec: { volumes: db.spec?.volumes ?? [] } }));
    await settle();
    await clock.advance(3_000);
    await settle();
    expect((await get("db")).status?.nominatedNodeName).toBe("only");
    await addPod(pod("vip", { requests: { cpu: "1" }, spec: { priority: 1000 } }));
    await settle();
    expect(await places()).toEqual({ db: undefined, vip: "only" });
    const { metadata, status } = await get("db");
    expect(metadata.deletionTimestamp).toBeUndefined();
    expect(status?.nominatedNodeName).toBeUndefined();
    expect(status?.conditions?.map(({ type }) => type)).toEqual(["PodScheduled"]);
    expect(await events("db")).toContainEqual(expect.stringMatching(/^Preempted: Preempted by pod .* on node only$/));
  });

  it("a claim for one Pod alone goes to the more important one", async () => {
    const { client, addPod, settle, places, events } = await cluster();
    const disk = local("disk-b", "b");
    const only: core.PersistentVolume = { ...disk, spec: { ...disk.spec, accessModes: ["ReadWriteOncePod"] } };
    await client.of(kinds.PersistentVolume).create(only);
    const data = claim("data");
    await client
      .of(kinds.PersistentVolumeClaim)
      .in("default")
      .create({ ...data, spec: { ...data.spec, accessModes: ["ReadWriteOncePod"] } });
    const wants = (name: string, priority: number) =>
      pod(name, {
        spec: { priority, volumes: using(name, "data").spec?.volumes ?? [], terminationGracePeriodSeconds: 0 },
      });
    await addPod(wants("low", 0));
    await settle();
    expect(await places()).toEqual({ low: "b" });
    await addPod(wants("equal", 0));
    await settle();
    expect(await events("equal")).toEqual([
      "FailedScheduling: 0/3 nodes are available: 3 node has pod using PersistentVolumeClaim with the same name and " +
        "ReadWriteOncePod access mode. " +
        "no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.",
    ]);
    await addPod(wants("vip", 1000));
    await settle();
    expect(await places()).toEqual({ equal: undefined, vip: "b" });
  });

  it("of two Pods that want the only disk one waits, until there is another", async () => {
    const { client, addPod, settle, places, events, clock } = await cluster();
    await client.of(kinds.PersistentVolume).create(local("disk-a", "a"));
    for (const name of ["one", "two"]) await client.of(kinds.PersistentVolumeClaim).in("default").create(claim(name));
    await settle();
    await addPod(using("first", "one"));
    await addPod(using("second", "two"));
    await settle();
    expect(await places()).toEqual({ first: "a", second: undefined });
    expect(await events("second")).toEqual([
      `FailedScheduling: 0/3 nodes are available: 3 node(s) didn't find available persistent volumes to bind. ${PREEMPTION}`,
    ]);
    await client.of(kinds.PersistentVolume).create(local("disk-c", "c"));
    await settle();
    await clock.advance(10_000);
    expect(await places()).toEqual({ first: "a", second: "c" });
  });

  it("a claim that comes later, and is bound later still", async () => {
    const { client, addPod, settle, places, events, clock } = await cluster();
    await addPod(using("db", "data"));
    await settle();
    expect(await events("db")).toEqual([
      `FailedScheduling: 0/3 nodes are available: persistentvolumeclaim "data" not found. ${PREEMPTION}`,
    ]);
    await client.of(kinds.PersistentVolumeClaim).in("default").create(claim("data", ""));
    await settle();
    await clock.advance(10_000);
    expect((await events("db")).at(-1)).toBe(
      `FailedScheduling: 0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. ${PREEMPTION}`,
    );
    await client.of(kinds.PersistentVolume).create(local("disk-c", "c", ""));
    await settle();
    await clock.advance(10_000);
    expect(await places()).toEqual({ db: "c" });
  });
});
