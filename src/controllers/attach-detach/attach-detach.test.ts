/** The running controller: recovery, leftovers, migrated volumes, faults. Nodes and their kubelets are scripted. */
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { type core, csiVolumeName, kinds, StatusError } from "#api";
import { persistentVolumeBinder } from "../persistent-volume/index.ts";
import { testControllers } from "../testing/index.ts";
import { attachmentName } from "./attachments.ts";
import { attachDetachController } from "./index.ts";
import { boundClaim, scriptedAttacher } from "./testing/index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const MINUTE = 60_000;
const DATA = { driver: "example.com", volumeHandle: "data" };
const NAME = csiVolumeName(DATA);
const MANAGED = { "volumes.kubernetes.io/controller-managed-attach-detach": "true" };
const CONTROLLERS = () => [persistentVolumeBinder(), attachDetachController()];

async function cluster(claims: readonly string[] = ["data"]) {
  const running = await testControllers(CONTROLLERS());
  open.push(() => running.close());
  const { client, settle } = running;
  await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
  const nodes = client.of(kinds.Node);
  const node = (name: string, annotations: Readonly<Record<string, string>> = MANAGED) =>
    nodes.create({
      metadata: { name, annotations },
      status: { conditions: [{ type: "Ready", status: "True" }] },
    });
  for (const name of ["a", "b"]) await node(name);
  for (const name of claims) await boundClaim(client, name);
  const pods = client.of(kinds.Pod).in("default");
  const pod = (name: string, nodeName: string, volume: Partial<core.Volume> = claimed("data")) =>
    pods.create({
      metadata: { name },
      spec: { nodeName, containers: [{ name: "c", image: "i" }], volumes: [{ name: "v", ...volume }] },
    });
  const inUse = (name: string, names: readonly string[]) =>
    nodes.subresource(name, "status").patch({ type: "merge", object: { status: { volumesInUse: [...names] } } });
  const attached = async (name: string) =>
    (await nodes.get(name)).status?.volumesAttached?.map((volume) => volume.name) ?? [];
  const attacher = scriptedAttacher(client);
  /** Until nothing changes any more. */
  const work = async () => {
    for (let turn = 0; turn < 4; turn++) {
      await settle();
      await attacher.work();
    }
    await settle();
  };
  await settle();
  return { ...running, nodes, node, pods, pod, inUse, attached, attacher, work };
}

const claimed = (claimName: string): Partial<core.Volume> => ({ persistentVolumeClaim: { claimName } });

describe("the controller", () => {
  it("creates an attachment under the name that Kubernetes gives it", async () => {
    const { client, pod, settle } = await cluster();
    await pod("p", "a");
    await settle();
    expect((await client.of(kinds.VolumeAttachment).list()).items).toMatchObject([
      {
        metadata: { name: attachmentName(DATA, "a") },
        spec: { attacher: "example.com", nodeName: "a", source: { persistentVolumeName: "pv-data" } },
      },
    ]);
  });

  it("attaches nothing without a need, or to a node that does not leave it to the controller", async () => {
    const { client, node, pod, pods, attacher, settle } = await cluster(["data", "other"]);
    await node("c", {});
    await pod("unmanaged", "c", claimed("other"));
    await pod("inline", "a", { csi: { driver: "example.com" } });
    await pods.create({
      metadata: { name: "unscheduled" },
      spec: { containers: [{ name: "c", image: "i" }], volumes: [{ name: "v", ...claimed("data") }] },
    });
    const finished = await pod("finished", "a");
    await settle();
    expect(await attacher.shown()).toEqual(["a waiting"]);
    await pods.updateStatus({ ...finished, status: { phase: "Succeeded" } });
    await settle();
    expect(await attacher.shown()).toEqual([]);
    expect((await client.of(kinds.Event).list()).items).toEqual([]);
  });

  it("keeps the volumes of finished Pods for a node that asks for that", async () => {
    const { node, pod, pods, attacher, settle } = await cluster();
    await node("c", { ...MANAGED, "volumes.kubernetes.io/keep-terminated-pod-volumes": "true" });
    const finished = await pod("p", "c");
    await pods.updateStatus({ ...finished, status: { phase: "Succeeded" } });
    await settle();
    expect(await attacher.shown()).toEqual(["c waiting"]);
  });

  it("attaches the claim of an ephemeral volume only for its own Pod", async () => {
    const { client, pod, attacher, settle } = await cluster(["p-v", "q-v"]);
    const template = { spec: { accessModes: ["ReadWriteOnce"] as const, resources: { requests: { storage: "1Gi" } } } };
    const own = await pod("p", "a", { ephemeral: { volumeClaimTemplate: template } });
    await pod("q", "b", { ephemeral: { volumeClaimTemplate: template } });
    await settle();
    expect(await attacher.shown()).toEqual([]);
    const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: own.metadata.uid ?? "", controller: true };
    await client
      .of(kinds.PersistentVolumeClaim)
      .in("default")
      .patch("p-v", { type: "merge", object: { metadata: { ownerReferences: [owner] } } });
    await client
      .of(kinds.Node)
      .patch("a", { type: "merge", object: { metadata: { annotations: { touched: "yes" } } } });
    await settle();
    expect(await attacher.shown()).toEqual(["a waiting"]);
  });

  it("attaches volumes of in-tree plugins as those of their drivers, where the node supports that", async () => {
    const { client, pod, settle, attacher } = await cluster([]);
    const { csi: _, ...source } = { csi: undefined, awsElasticBlockStore: { volumeID: "aws://z/vol-1" } };
    await client.of(kinds.PersistentVolume).create({
      metadata: { name: "ebs" },
      spec: {
        ...source,
        accessModes: ["ReadWriteOnce"],
        capacity: { storage: "1Gi" },
        claimRef: { namespace: "default", name: "data" },
        persistentVolumeReclaimPolicy: "Retain",
      },
    });
    await client
      .of(kinds.PersistentVolumeClaim)
      .in("default")
      .create({
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], storageClassName: "", resources: { requests: { storage: "1Gi" } } },
      });
    await pod("p", "a");
    await settle();
    expect(await attacher.shown()).toEqual([]);
    const annotations = {
      "storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs,kubernetes.io/cinder",
    };
    await client.of(kinds.CSINode).create({ metadata: { name: "a", annotations }, spec: { drivers: [] } });
    await settle();
    expect((await client.of(kinds.VolumeAttachment).list()).items).toMatchObject([
      {
        metadata: { name: attachmentName({ driver: "ebs.csi.aws.com", volumeHandle: "vol-1" }, "a") },
        spec: { attacher: "ebs.csi.aws.com", source: { persistentVolumeName: "ebs" } },
      },
    ]);
  });

  it("never gives an exclusive volume to two nodes that ask for it at once", async () => {
    const { pod, work, attacher } = await cluster();
    await Promise.all([pod("p", "a"), pod("q", "b")]);
    await work();
    expect(await attacher.shown()).toHaveLength(1);
  });

  it("detaches only what the node has unmounted, and asks the API server for that", async () => {
    const { pod, pods, inUse, attached, attacher, work, requests } = await cluster();
    await pod("p", "a");
    await inUse("a", [NAME]);
    await work();
    expect(await attached("a")).toEqual([NAME]);
    await pods.delete("p", { gracePeriodSeconds: 0 });
    await work();
    expect(await attacher.shown()).toEqual(["a attached"]);
    const asked = () => requests().filter(({ method, path }) => method === "GET" && path === "/api/v1/nodes/a").length;
    expect(asked()).toBe(0);
    await inUse("a", []);
    await work();
    expect(asked()).toBeGreaterThan(0);
    expect(await attacher.shown()).toEqual([]);
    expect(await attached("a")).toEqual([]);
  });

  it("attaches a volume again whose attachment was deleted by somebody", async () => {
    const { client, pod, attached, attacher, work, settle } = await cluster();
    await pod("p", "a");
    await work();
    await client.of(kinds.VolumeAttachment).delete(attachmentName(DATA, "a"));
    await settle();
    expect(await attached("a")).toEqual([]);
    await work();
    expect(await attacher.shown()).toEqual(["a attached"]);
    expect(await attached("a")).toEqual([NAME]);
  });

  it("leaves attachments alone that others have made", async () => {
    const { client, attacher, work } = await cluster();
    await client.of(kinds.VolumeAttachment).create({
      metadata: { name: "mine" },
      spec: { attacher: "example.com", nodeName: "a", source: { persistentVolumeName: "pv-data" } },
    });
    await work();
    expect(await attacher.shown()).toEqual(["a attached"]);
  });
});

describe("an exclusive volume", () => {
  it("is attached to one node at most, and to the right one in the end, whatever Pods and nodes do", async () => {
    const step = fc.record({
      what: fc.constantFrom("create", "delete", "mount", "unmount", "attach", "wait"),
      node: fc.constantFrom("a", "b"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        const { client, pod, pods, inUse, attacher, settle, work, clock } = await cluster();
        const alive = new Map<string, string>();
        for (const [at, { what, node }] of steps.entries()) {
          if (what === "create") {
            await pod(`p${at}`, node);
            alive.set(`p${at}`, node);
          }
          const [first] = alive.keys();
          if (what === "delete" && first !== undefined) {
            await pods.delete(first, { gracePeriodSeconds: 0 });
            alive.delete(first);
          }
          if (what === "mount" || what === "unmount") await inUse(node, what === "mount" ? [NAME] : []);
          if (what === "attach") await attacher.work();
          if (what === "wait") await settle();
          const attachments = (await client.of(kinds.VolumeAttachment).list()).items;
          expect(attachments.length, JSON.stringify(steps)).toBeLessThanOrEqual(1);
        }
        for (const node of ["a", "b"]) await inUse(node, []);
        await work();
        await clock.advance(5 * MINUTE);
        await work();
        const wanted = new Set(alive.values());
        const left = await attacher.shown();
        expect(left).toHaveLength(Math.min(wanted.size, 1));
        for (const each of left) expect([...wanted]).toContain(each.replace(" attached", ""));
      }),
      { numRuns: 25 },
    );
  });
});

describe("a controller that starts", () => {
  it("continues from attachments and nodes' statuses", async () => {
    const first = await cluster(["data", "gone", "lost"]);
    for (const [name, claimName] of Object.entries({ p: "data", q: "gone", r: "lost" }))
      await first.pod(name, "a", claimed(claimName));
    await first.work();
    expect(await first.attached("a")).toHaveLength(3);
    await first.stop();
    // While no controller runs, Pods disappear, and a volume with its claim.
    const { client, pods } = first;
    for (const name of ["q", "r"]) await pods.delete(name, { gracePeriodSeconds: 0 });
    await client.of(kinds.PersistentVolumeClaim).in("default").delete("lost");
    await client.of(kinds.PersistentVolume).delete("pv-lost");
    const before = (await client.of(kinds.Event).list()).items.length;
    const second = await testControllers(CONTROLLERS(), { server: first.server });
    open.push(() => second.close());
    await first.work();
    expect(await first.attacher.shown()).toEqual(["a attached"]);
    expect(await first.attached("a")).toEqual([NAME]);
    expect((await client.of(kinds.Event).list()).items).toHaveLength(before);
    const writes = second.writes();
    await first.clock.advance(60 * MINUTE);
    expect(second.writes()).toBe(writes);
  });

  it("detaches from nodes that are gone, after 6 minutes, because it does not know what they had mounted", async () => {
    const first = await cluster();
    await first.pod("p", "a");
    await first.work();
    await first.stop();
    await first.pods.delete("p", { gracePeriodSeconds: 0 });
    await first.nodes.delete("a");
    const second = await testControllers(CONTROLLERS(), { server: first.server });
    open.push(() => second.close());
    await first.clock.advance(5 * MINUTE);
    expect(await first.attacher.shown()).toEqual(["a attached"]);
    await first.clock.advance(2 * MINUTE);
    await first.work();
    expect(await first.attacher.shown()).toEqual([]);
  });

  it("converges from a stop after any write", async () => {
    for (let limit = 1; limit <= 8; limit++) {
      const first = await cluster();
      let writes = 0;
      first.refuse(({ method, path }) => {
        if (method !== "GET" && !path.includes("/events") && ++writes === limit) void first.stop();
        return undefined;
      });
      await first.pod("p", "a");
      await first.work();
      await first.pods.delete("p", { gracePeriodSeconds: 0 });
      await first.pod("q", "b");
      await first.work();
      await first.stop();
      const second = await testControllers(CONTROLLERS(), { server: first.server });
      open.push(() => second.close());
      await first.work();
      await first.clock.advance(MINUTE);
      await first.work();
      expect(await first.attacher.shown(), `after ${limit} writes`).toEqual(["b attached"]);
      expect([await first.attached("a"), await first.attached("b")]).toEqual([[], [NAME]]);
    }
  });

  it("converges while every third write fails", async () => {
    const { pod, pods, refuse, work, clock, attacher, attached } = await cluster();
    let count = 0;
    refuse(({ method, path }) => {
      if (method === "GET" || path.includes("/events") || ++count % 3 !== 0) return undefined;
      return new StatusError(count % 2 === 0 ? "Conflict" : "InternalError", "not now");
    });
    for (let turn = 0; turn < 4; turn++) {
      const node = turn % 2 === 0 ? "a" : "b";
      await pod(`p${turn}`, node);
      for (let minute = 0; minute < 2; minute++) {
        await work();
        await clock.advance(MINUTE);
      }
      await work();
      expect(await attacher.shown()).toEqual([`${node} attached`]);
      expect(await attached(node)).toEqual([NAME]);
      await pods.delete(`p${turn}`, { gracePeriodSeconds: 0 });
    }
  });
});
