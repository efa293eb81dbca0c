import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, type storage } from "#api";
import { seededRandom, silentLogger, TaskGroup } from "#base";
import { Client, Informers, inProcess } from "#client";
import { persistentVolumeBinder } from "../../../controllers/persistent-volume/index.ts";
import { testControllers } from "../../../controllers/testing/index.ts";
import { DEFAULT_ARGUMENTS, type Plugin, type PluginContext } from "../../framework/index.ts";
import { ClusterState, PodInfos, ResourceNames } from "../../snapshot/index.ts";
import { node, pod } from "../../testing/index.ts";
import { volumeBinding } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const ZONE = "topology.kubernetes.io/zone";

/** The plugin on an API server with the volume controller at work. */
async function cluster() {
  const running = await testControllers([persistentVolumeBinder()]);
  open.push(() => running.close());
  const { client, clock, server } = running;
  const scheduler = new Client({ transport: inProcess(server.handle, SCHEDULER), clock });
  const tasks = new TaskGroup();
  const informers = new Informers({ client: scheduler, clock, random: seededRandom(1), log: silentLogger, tasks });
  const names = new ResourceNames();
  const view = new ClusterState(names);
  const context = { client: scheduler, informers, view, clock } as unknown as PluginContext;
  const plugin = volumeBinding.make(DEFAULT_ARGUMENTS, context);
  open.push(async () => {
    await tasks.stop();
    await scheduler.close();
  });
  await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
  for (const [name, zone] of [
    ["a", "z1"],
    ["b", "z2"],
  ] as const) {
    const made = node(name, { labels: { [ZONE]: zone } });
    view.setNode(made);
    await client.of(kinds.Node).create({ ...made, metadata: { name, labels: made.metadata.labels ?? {} } });
  }
  await running.settle();
  const infos = new PodInfos(names);
  return { ...running, plugin, view, infos };
}

const SCHEDULER = { name: "system:kube-scheduler", groups: ["system:authenticated"] };

type Cluster = Awaited<ReturnType<typeof cluster>>;

const storageClass = (more: Partial<storage.StorageClass> = {}): storage.StorageClass => ({
  metadata: { name: "later" },
  provisioner: "disks.example.com",
  volumeBindingMode: "WaitForFirstConsumer",
  ...more,
});

const claim = (name: string, storage = "1Gi", className = "later"): core.PersistentVolumeClaim => ({
  metadata: { name, namespace: "default" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, storageClassName: className },
});

const volume = (name: string, size: string, zone?: string): core.PersistentVolume => ({
  metadata: { name },
  spec: {
    capacity: { storage: size },
    accessModes: ["ReadWriteOnce"],
    storageClassName: "later",
    persistentVolumeReclaimPolicy: "Retain",
    csi: { driver: "disks.example.com", volumeHandle: name },
    ...(zone === undefined
      ? {}
      : {
          nodeAffinity: {
            required: { nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: "In", values: [zone] }] }] },
          },
        }),
  },
});

const withClaims = (name: string, ...claims: string[]) =>
  pod(name, {
    spec: { volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) },
  });

/** The filter's state, or why there is none. */
function prepared({ plugin, infos, view }: Cluster, wants: core.Pod) {
  const filter = plugin.filter;
  if (filter?.reads !== "cluster") throw new Error("VolumeBinding reads the cluster");
  const info = infos.of(wants);
  const found = filter.prepare(info, view);
  return { info, found, verdict: (name: string) => verdictOn(plugin, found, view, name) };
}

function verdictOn(plugin: Plugin, found: { kind: string; state?: unknown }, view: ClusterState, name: string) {
  const on = view.nodeNamed(name);
  if (found.kind !== "ready" || on === undefined) throw new Error(`no state, or no node ${name}`);
  const verdict = plugin.filter?.check(found.state, on);
  return verdict?.kind === "pass" ? "pass" : verdict?.reasons.join();
}

/** Reserves the node and starts what comes before binding. */
function placing(running: Cluster, wants: core.Pod, on: string) {
  const { plugin, view } = running;
  const { info, found } = prepared(running, wants);
  const target = view.nodeNamed(on);
  if (found.kind !== "ready" || target === undefined) throw new Error("it cannot be placed");
  view.assume(info, on);
  expect(plugin.reserve?.(found.state, info, target)).toMatchObject({ kind: "pass" });
  const abort = new AbortController();
  const bound = plugin.preBind?.(found.state, info, on, abort.signal) ?? Promise.reject(new Error("it does not bind"));
  return {
    info,
    state: found.state,
    abort,
    bound: bound.then(
      () => "bound",
      (error: Error) => error.message,
    ),
  };
}

describe("before any node is looked at", () => {
  it("wants claims that are there and bound, or wait for a node", async () => {
    const running = await cluster();
    const { client, settle } = running;
    await client.of(kinds.StorageClass).create(storageClass());
    await client.of(kinds.PersistentVolumeClaim).in("default").create(claim("waits"));
    await client
      .of(kinds.PersistentVolumeClaim)
      .in("default")
      .create(claim("at-once", "1Gi", ""));
    await settle();
    const reasons = (wants: core.Pod) => {
      const { found } = prepared(running, wants);
      return found.kind === "rejected" ? found.rejection.reasons : found.kind;
    };
    expect(reasons(pod("p"))).toBe("skip");
    expect(reasons(withClaims("p", "waits"))).toBe("ready");
    expect(reasons(withClaims("p", "none"))).toEqual(['persistentvolumeclaim "none" not found']);
    expect(reasons(withClaims("p", "waits", "at-once"))).toEqual(["pod has unbound immediate PersistentVolumeClaims"]);
    const ephemeral = pod("p", { spec: { volumes: [{ name: "tmp", ephemeral: {} }] } });
    expect(reasons(ephemeral)).toEqual([
      'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-tmp"',
    ]);
  });
});

describe("volumes that are there", () => {
  it("are taken smallest first, where they are reached, and bound through the volume controller", async () => {
    const running = await cluster();
    const { client, settle } = running;
    await client.of(kinds.StorageClass).create(storageClass({ provisioner: "kubernetes.io/no-provisioner" }));
    for (const made of [volume("big", "10Gi", "z1"), volume("small", "2Gi", "z1"), volume("tiny", "1Gi", "z1")])
      await client.of(kinds.PersistentVolume).create(made);
    await client.of(kinds.PersistentVolumeClaim).in("default").create(claim("c", "2Gi"));
    await settle();
    const wants = withClaims("p", "c");
    const { verdict } = prepared(running, wants);
    expect(verdict("a")).toBe("pass");
    expect(verdict("b")).toBe("node(s) didn't find available persistent volumes to bind");

    const { bound } = placing(running, wants, "a");
    await settle();
    expect(await bound).toBe("bound");
    const { spec, metadata } = await client.of(kinds.PersistentVolumeClaim).in("default").get("c");
    expect([spec?.volumeName, metadata.annotations?.["pv.kubernetes.io/bind-completed"]]).toEqual(["small", "yes"]);
    const small = await client.of(kinds.PersistentVolume).get("small");
    expect(small.spec?.claimRef).toMatchObject({ namespace: "default", name: "c", uid: metadata.uid });

    expect(prepared(running, withClaims("q", "c")).verdict("a")).toBe("pass");
    expect(prepared(running, withClaims("q", "c")).verdict("b")).toBe(
      "node(s) didn't match PersistentVolume's node affinity",
    );
  });

  it("are not given twice, and are free again when the Pod does not get there", async () => {
    const running = await cluster();
    const { client, settle, plugin, view } = running;
    await client.of(kinds.StorageClass).create(storageClass({ provisioner: "kubernetes.io/no-provisioner" }));
    await client.of(kinds.PersistentVolume).create(volume("only", "1Gi"));
    for (const name of ["c1", "c2"]) await client.of(kinds.PersistentVolumeClaim).in("default").create(claim(name));
    await settle();
    const first = prepared(running, withClaims("p1", "c1"));
    const on = view.nodeNamed("a");
    if (first.found.kind !== "ready" || on === undefined) throw new Error("it fits");
    plugin.reserve?.(first.found.state, first.info, on);
    const second = () => prepared(running, withClaims("p2", "c2")).verdict("a");
    expect(second()).toBe("node(s) didn't find available persistent volumes to bind");
    plugin.unreserve?.(first.found.state, first.info, "a");
    expect(second()).toBe("pass");
  });
});

describe("volumes that are made", () => {
  async function provisioning() {
    const running = await cluster();
    const { client, settle } = running;
    const allowedTopologies = [{ matchLabelExpressions: [{ key: ZONE, values: ["z1"] }] }];
    await client.of(kinds.StorageClass).create(storageClass({ allowedTopologies }));
    await client.of(kinds.PersistentVolumeClaim).in("default").create(claim("c"));
    await settle();
    return running;
  }

  /** As an external provisioner does it. */
  async function provide({ client }: Cluster, name: string, zone: string) {
    const made = await client.of(kinds.PersistentVolumeClaim).in("default").get("c");
    const claimRef = { namespace: "default", name: "c", ...(made.metadata.uid && { uid: made.metadata.uid }) };
    const template = volume(name, "1Gi", zone);
    await client.of(kinds.PersistentVolume).create({ ...template, spec: { ...template.spec, claimRef } });
  }

  it("for nodes of the allowed topologies, and the Pod waits for them", async () => {
    const running = await provisioning();
    const { client, settle } = running;
    const wants = withClaims("p", "c");
    const { verdict } = prepared(running, wants);
    expect([verdict("a"), verdict("b")]).toEqual(["pass", "node(s) didn't find available persistent volumes to bind"]);
    const { bound } = placing(running, wants, "a");
    await settle();
    const { metadata } = await client.of(kinds.PersistentVolumeClaim).in("default").get("c");
    expect(metadata.annotations).toMatchObject({
      "volume.kubernetes.io/selected-node": "a",
      "volume.kubernetes.io/storage-provisioner": "disks.example.com",
    });
    await provide(running, "made", "z1");
    await settle();
    expect(await bound).toBe("bound");
  });

  it("fails when the provisioner gives up", async () => {
    const running = await provisioning();
    const { client, settle } = running;
    const { bound } = placing(running, withClaims("p", "c"), "a");
    await settle();
    const claims = client.of(kinds.PersistentVolumeClaim).in("default");
    await claims.patch("c", {
      type: "merge",
      object: { metadata: { annotations: { "volume.kubernetes.io/selected-node": null } } },
    });
    await settle();
    expect(await bound).toBe('binding volumes: provisioning failed for PVC "c"');
  });

  it("fails when the volume is made elsewhere", async () => {
    const running = await provisioning();
    const { bound } = placing(running, withClaims("p", "c"), "a");
    await running.settle();
    await provide(running, "made", "z2");
    await running.settle();
    expect(await bound).toBe(
      'binding volumes: pv "made" node affinity doesn\'t match node "a": no matching NodeSelectorTerms',
    );
  });

  it("fails after ten minutes, when the node or the Pod goes, and when it is told to stop", async () => {
    const late = await provisioning();
    const waiting = placing(late, withClaims("p", "c"), "a");
    await late.settle();
    await late.clock.advance(600_000);
    expect(await waiting.bound).toBe("binding volumes: context deadline exceeded");

    const gone = await provisioning();
    const homeless = placing(gone, withClaims("p", "c"), "a");
    await gone.settle();
    gone.view.removeNode("a");
    await gone.clock.advance(1_000);
    expect(await homeless.bound).toBe('binding volumes: failed to get node "a": node "a" not found');

    const deleted = await provisioning();
    const dead = placing(deleted, withClaims("p", "c"), "a");
    await deleted.settle();
    deleted.view.removePod(dead.info.uid);
    await deleted.clock.advance(1_000);
    expect(await dead.bound).toBe('binding volumes: pod does not exist any more: pod "p" not found');

    const stopped = await provisioning();
    const ending = placing(stopped, withClaims("p", "c"), "a");
    await stopped.settle();
    ending.abort.abort(new Error("the end"));
    expect(await ending.bound).toBe("the end");
  });

  it("gives up where another has changed the claim meanwhile", async () => {
    const running = await provisioning();
    const { client, settle, plugin, view } = running;
    const { info, found } = prepared(running, withClaims("p", "c"));
    const on = view.nodeNamed("a");
    if (found.kind !== "ready" || on === undefined) throw new Error("it fits");
    view.assume(info, "a");
    plugin.reserve?.(found.state, info, on);
    await client
      .of(kinds.PersistentVolumeClaim)
      .in("default")
      .patch("c", { type: "merge", object: { metadata: { labels: { a: "b" } } } });
    await expect(plugin.preBind?.(found.state, info, "a", new AbortController().signal)).rejects.toMatchObject({
      reason: "Conflict",
    });
    await settle();
    expect(prepared(running, withClaims("p", "c")).verdict("a")).toBe("pass");
  });
});

describe("claims that are bound", () => {
  it("leave nothing to wait for, and nothing to ask where their volumes are reached from anywhere", async () => {
    const running = await cluster();
    const { client, settle } = running;
    for (const made of [volume("anywhere", "1Gi"), volume("somewhere", "2Gi", "z2")])
      await client.of(kinds.PersistentVolume).create({ ...made, spec: { ...made.spec, storageClassName: "" } });
    await client
      .of(kinds.PersistentVolumeClaim)
      .in("default")
      .create(claim("free", "1Gi", ""));
    await settle();
    await client
      .of(kinds.PersistentVolumeClaim)
      .in("default")
      .create(claim("tied", "2Gi", ""));
    await settle();
    expect(prepared(running, withClaims("p", "free")).found.kind).toBe("skip");
    expect(prepared(running, withClaims("q", "tied")).verdict("a")).toBe(
      "node(s) didn't match PersistentVolume's node affinity",
    );
    expect(await placing(running, withClaims("q", "tied"), "b").bound).toBe("bound");
  });
});
