/** Volumes from the claim to the running Pod and back, on simulated nodes and virtual time. */
import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds } from "#api";
import { testFleet } from "../../kubelet/fleet/testing/index.ts";
import { nodeLifecycleController } from "../node-lifecycle/index.ts";
import { persistentVolumeBinder } from "../persistent-volume/index.ts";
import { podGarbageCollector } from "../pod-gc/index.ts";
import { taintEvictionController } from "../taint-eviction/index.ts";
import { testControllers } from "../testing/index.ts";
import { type AttachDetachSettings, attachDetachController } from "./index.ts";
import { boundClaim, scriptedAttacher } from "./testing/index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const NAME = "kubernetes.io/csi/example.com^data";

async function cluster(settings: Partial<AttachDetachSettings> = {}) {
  const running = await testControllers([
    persistentVolumeBinder(),
    attachDetachController(settings),
    nodeLifecycleController(),
    taintEvictionController,
    podGarbageCollector(),
  ]);
  open.push(() => running.close());
  const { client, clock, server } = running;
  for (const name of ["default", "kube-node-lease"]) await client.of(kinds.Namespace).create({ metadata: { name } });
  const nodes = await testFleet({ server, count: 2 });
  open.push(() => nodes.close());
  const attacher = scriptedAttacher(client);
  const pods = client.of(kinds.Pod).in("default");
  const pod = (name: string, nodeName: string, claimName = "data"): Promise<core.Pod> =>
    pods.create({
      metadata: { name },
      spec: {
        nodeName,
        containers: [{ name: "c", image: "i" }],
        automountServiceAccountToken: false,
        volumes: [{ name: "v", persistentVolumeClaim: { claimName } }],
      },
    });
  const phase = async (name: string) => (await nodes.get(name))?.status?.phase;
  const volumes = async (name: string) => {
    const { volumesAttached = [], volumesInUse = [] } = (await client.of(kinds.Node).get(name)).status ?? {};
    return { attached: volumesAttached.map((volume) => volume.name), inUse: volumesInUse };
  };
  const events = async (about: string) =>
    (await client.of(kinds.Event).list()).items
      .filter(({ regarding, reason = "" }) => regarding?.name === about && reason.includes("AttachVolume"))
      .map(({ reason, note }) => `${reason} ${note}`);
  /** Time passes, and the attacher works every second. */
  const live = async (ms: number) => {
    for (let left = ms; left > 0; left -= SECOND) {
      await attacher.work();
      await clock.advance(Math.min(left, SECOND));
    }
  };
  await clock.advance(5 * SECOND);
  return { ...running, nodes, attacher, pods, pod, phase, volumes, events, live };
}

const NONE = { attached: [], inUse: [] };
const HELD = { attached: [NAME], inUse: [NAME] };

describe("a Pod with a CSI volume", () => {
  it("runs when the volume is attached, and gives it back when it is deleted", async () => {
    const { client, clock, attacher, pod, pods, phase, volumes, events, live } = await cluster();
    await boundClaim(client, "data");
    await pod("p", "node-1");
    await clock.advance(10 * SECOND);
    expect(await attacher.shown()).toEqual(["node-1 waiting"]);
    expect(await phase("p")).toBe("Pending");
    expect(await volumes("node-1")).toEqual({ attached: [], inUse: [NAME] });
    await live(5 * SECOND);
    expect(await phase("p")).toBe("Running");
    expect(await volumes("node-1")).toEqual(HELD);
    expect(await events("p")).toEqual(['SuccessfulAttachVolume AttachVolume.Attach succeeded for volume "pv-data" ']);
    await pods.delete("p");
    await clock.advance(MINUTE);
    expect(await attacher.shown()).toEqual(["node-1 leaving"]);
    expect(await volumes("node-1")).toEqual(NONE);
    await live(5 * SECOND);
    expect(await attacher.shown()).toEqual([]);
  });

  it("learns what the attacher says, and runs when it succeeds", async () => {
    const { client, clock, attacher, pod, phase, events, live } = await cluster();
    await boundClaim(client, "data");
    await pod("p", "node-1");
    await clock.advance(SECOND);
    await attacher.work("no such disk");
    await clock.advance(MINUTE);
    expect(await phase("p")).toBe("Pending");
    expect(await events("p")).toEqual([
      'FailedAttachVolume AttachVolume.Attach failed for volume "pv-data" : no such disk',
    ]);
    await live(10 * SECOND);
    expect(await phase("p")).toBe("Running");
  });

  it("needs no attachment if the driver does not attach", async () => {
    const { client, clock, attacher, pod, phase } = await cluster();
    await client.of(kinds.CSIDriver).create({ metadata: { name: "example.com" }, spec: { attachRequired: false } });
    await boundClaim(client, "data");
    await pod("p", "node-1");
    await clock.advance(10 * SECOND);
    expect(await attacher.shown()).toEqual([]);
    expect(await phase("p")).toBe("Running");
  });

  it("waits until its claim is bound", async () => {
    const { client, clock, pod, phase, live } = await cluster();
    await pod("p", "node-1");
    await clock.advance(30 * SECOND);
    expect(await phase("p")).toBe("Pending");
    await boundClaim(client, "data");
    await live(30 * SECOND);
    expect(await phase("p")).toBe("Running");
  });

  it("shares the volume on its node, and with other nodes only if the volume allows that", async () => {
    const { client, pod, pods, phase, events, live, attacher } = await cluster();
    await boundClaim(client, "data");
    await boundClaim(client, "shared", { accessModes: ["ReadWriteMany"] });
    await pod("p", "node-1");
    await live(10 * SECOND);
    await pod("q", "node-1");
    await pod("r", "node-2");
    await pod("s", "node-1", "shared");
    await pod("t", "node-2", "shared");
    await live(30 * SECOND);
    expect(await Promise.all(["p", "q", "r", "s", "t"].map(phase))).toEqual([
      "Running",
      "Running",
      "Pending",
      "Running",
      "Running",
    ]);
    expect(await events("r")).toEqual([
      'FailedAttachVolume Multi-Attach error for volume "pv-data" Volume is already used by pod(s) p, q',
    ]);
    await pods.delete("p");
    await live(MINUTE);
    expect(await phase("r")).toBe("Pending");
    await pods.delete("q");
    await live(MINUTE);
    expect(await phase("r")).toBe("Running");
    expect((await attacher.shown()).toSorted()).toEqual(["node-1 attached", "node-2 attached", "node-2 attached"]);
  });
});

describe("many Pods with volumes", () => {
  it("all run, and cost two writes for a volume and a few for a node", async () => {
    const { client, pod, phase, attacher, live, requests } = await cluster();
    const names = Array.from({ length: 40 }, (_, at) => `v${at}`);
    for (const name of names) await boundClaim(client, name);
    await live(5 * SECOND);
    const before = requests().length;
    for (const [at, name] of names.entries()) await pod(name, `node-${1 + (at % 2)}`, name);
    await live(20 * SECOND);
    expect(new Set(await Promise.all(names.map(phase)))).toEqual(new Set(["Running"]));
    expect(await attacher.shown()).toHaveLength(names.length);
    const writes = requests()
      .slice(before)
      .filter(({ method, path }) => method !== "GET" && /volumeattachments|nodes.*status/.test(path));
    expect(writes.filter(({ path }) => path.includes("volumeattachments"))).toHaveLength(names.length);
    expect(writes.filter(({ path }) => path.includes("/nodes/")).length).toBeLessThanOrEqual(names.length);
  });
});

describe("a node that fails", () => {
  const failed = async (settings?: Partial<AttachDetachSettings>) => {
    const running = await cluster(settings);
    const { client, nodes, pod, pods, live } = running;
    await boundClaim(client, "data");
    await pod("p", "node-1");
    await live(10 * SECOND);
    nodes.fleet.stopNode("node-1");
    await live(2 * MINUTE);
    await pod("q", "node-2");
    await live(5 * SECOND);
    return { ...running, forceDelete: () => pods.delete("p", { gracePeriodSeconds: 0 }) };
  };

  it("keeps its volume until 6 minutes after its Pod was deleted by force", async () => {
    const { forceDelete, phase, volumes, live } = await failed();
    await forceDelete();
    await live(5 * MINUTE);
    expect(await phase("q")).toBe("Pending");
    expect(await volumes("node-1")).toEqual(HELD);
    await live(2 * MINUTE);
    expect(await volumes("node-1")).toEqual({ attached: [], inUse: [NAME] });
    expect(await volumes("node-2")).toEqual(HELD);
    expect(await phase("q")).toBe("Running");
  });

  it("keeps it for good if forced detaching is disabled", async () => {
    const { forceDelete, phase, live } = await failed({ forceDetachOnTimeout: false });
    await forceDelete();
    await live(20 * MINUTE);
    expect(await phase("q")).toBe("Pending");
  });

  it("loses it at once when it is out of service", async () => {
    const { client, phase, volumes, live } = await failed();
    const taints = [{ key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" }];
    await client.of(kinds.Node).patch("node-1", { type: "merge", object: { spec: { taints } } });
    await live(30 * SECOND);
    expect(await phase("p")).toBeUndefined();
    expect(await volumes("node-1")).toEqual({ attached: [], inUse: [NAME] });
    expect(await phase("q")).toBe("Running");
  });

  it("loses it when it is deleted and its last report is 6 minutes old", async () => {
    const { client, phase, attacher, live } = await failed();
    await client.of(kinds.Node).delete("node-1");
    await live(5 * MINUTE);
    expect(await attacher.shown()).toEqual(["node-1 attached"]);
    await live(3 * MINUTE);
    expect(await attacher.shown()).toEqual(["node-2 attached"]);
    expect(await phase("q")).toBe("Running");
  });
});
