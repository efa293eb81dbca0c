/** A node fails and comes back: what becomes of it, of its Pods, and of those who want them. */
import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds } from "#api";
import { podGarbageCollector } from "../pod-gc/index.ts";
import { replicaSetController } from "../replica-set/index.ts";
import { taintEvictionController } from "../taint-eviction/index.ts";
import { scriptedNodes, testControllers } from "../testing/index.ts";
import { nodeLifecycleController } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const MINUTE = 60_000;
/** As the API server adds them to Pods that say nothing about it. */
const TOLERATIONS: readonly core.Toleration[] = ["not-ready", "unreachable"].map((state) => ({
  key: `node.kubernetes.io/${state}`,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 300,
}));

async function cluster() {
  const controllers = [nodeLifecycleController(), taintEvictionController, replicaSetController, podGarbageCollector()];
  const running = await testControllers(controllers);
  open.push(() => running.close());
  const { client, clock } = running;
  const nodes = scriptedNodes(client, clock);
  for (const name of ["default", "kube-node-lease"]) await client.of(kinds.Namespace).create({ metadata: { name } });
  for (const name of ["a", "b", "c"]) await nodes.add(name);
  const labels = { app: "web" };
  await client
    .of(kinds.ReplicaSet)
    .in("default")
    .create({
      metadata: { name: "web" },
      spec: {
        replicas: 6,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: "c", image: "i" }], tolerations: TOLERATIONS },
        },
      },
    });
  await nodes.live(MINUTE);
  const pods = async () => (await client.of(kinds.Pod).in("default").list()).items;
  const on = async (node: string) => (await pods()).filter(({ spec }) => spec?.nodeName === node);
  const ready = async () => (await client.of(kinds.ReplicaSet).in("default").get("web")).status?.readyReplicas;
  const reasons = async (name: string) =>
    (await client.of(kinds.Event).list()).items
      .filter(({ regarding }) => regarding?.name === name)
      .map(({ reason, note }) => `${reason}: ${note}`);
  return { ...running, nodes, pods, on, ready, reasons };
}

const taintsOf = ({ spec }: core.Node) => (spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`).sort();

describe("a node that fails", () => {
  it("loses its Pods to other nodes, and takes part again when it is back", async () => {
    const { client, nodes, on, ready, reasons } = await cluster();
    expect(await ready()).toBe(6);
    const victims = await on("a");
    expect(victims.length).toBe(2);

    nodes.stop("a");
    await nodes.live(MINUTE);
    const silent = await client.of(kinds.Node).get("a");
    expect(silent.status?.conditions?.map(({ type, status, reason }) => [type, status, reason])).toEqual(
      ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map((type) => [type, "Unknown", "NodeStatusUnknown"]),
    );
    expect(taintsOf(silent)).toEqual([
      "node.kubernetes.io/unreachable:NoExecute",
      "node.kubernetes.io/unreachable:NoSchedule",
    ]);
    expect(await ready()).toBe(4);
    expect(await reasons("a")).toEqual([
      "RegisteredNode: Node a event: Registered Node a in Controller",
      "NodeNotReady: Node a status is now: NodeNotReady",
    ]);

    await nodes.live(4 * MINUTE);
    expect((await on("a")).every(({ metadata }) => metadata.deletionTimestamp === undefined)).toBe(true);
    await nodes.live(2 * MINUTE);
    const evicted = await on("a");
    expect(evicted.map(({ metadata }) => metadata.name)).toEqual(victims.map(({ metadata }) => metadata.name));
    for (const { metadata, status } of evicted) {
      expect(metadata.deletionTimestamp).toBeDefined();
      expect(status?.conditions).toContainEqual(
        expect.objectContaining({ type: "DisruptionTarget", status: "True", reason: "DeletionByTaintManager" }),
      );
      expect(await reasons(metadata.name ?? "")).toEqual([
        "NodeNotReady: Node is not ready",
        `TaintManagerEviction: Marking for deletion Pod default/${metadata.name}`,
      ]);
    }
    expect(await ready()).toBe(6);

    nodes.start("a");
    await nodes.live(MINUTE);
    expect(await on("a")).toEqual([]);
    expect(taintsOf(await client.of(kinds.Node).get("a"))).toEqual([]);
    expect(await ready()).toBe(6);
  });

  it("keeps its Pods if it comes back in time", async () => {
    const { nodes, on, ready, reasons } = await cluster();
    const before = (await on("a")).map(({ metadata }) => metadata.uid);
    nodes.stop("a");
    await nodes.live(3 * MINUTE);
    nodes.start("a");
    await nodes.live(10 * MINUTE);
    expect((await on("a")).map(({ metadata }) => metadata.uid)).toEqual(before);
    expect(await ready()).toBe(6);
    const [pod] = await on("a");
    const name = pod?.metadata.name ?? "";
    expect(await reasons(name)).toContain(`TaintManagerEviction: Cancelling deletion of Pod default/${name}`);
  });

  it("is not alone: when all fail, nobody's Pods are driven out", async () => {
    const { client, nodes, pods } = await cluster();
    nodes.stop("a", "b", "c");
    await nodes.live(20 * MINUTE);
    for (const name of ["a", "b", "c"])
      expect(taintsOf(await client.of(kinds.Node).get(name))).toEqual(["node.kubernetes.io/unreachable:NoSchedule"]);
    expect((await pods()).filter(({ metadata }) => metadata.deletionTimestamp !== undefined)).toEqual([]);
  });
});
