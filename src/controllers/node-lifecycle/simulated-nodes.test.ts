/** The same on simulated nodes, which live by the rules of kubelets. */
import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds } from "#api";
import { testFleet } from "../../kubelet/fleet/testing/index.ts";
import { nodeIpamController } from "../node-ipam/index.ts";
import { podGarbageCollector } from "../pod-gc/index.ts";
import { replicaSetController } from "../replica-set/index.ts";
import { taintEvictionController } from "../taint-eviction/index.ts";
import { placePods, testControllers } from "../testing/index.ts";
import { nodeLifecycleController } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const MINUTE = 60_000;
const TOLERATIONS: readonly core.Toleration[] = ["not-ready", "unreachable"].map((state) => ({
  key: `node.kubernetes.io/${state}`,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 30,
}));

async function cluster() {
  const running = await testControllers([
    nodeLifecycleController(),
    nodeIpamController(),
    taintEvictionController,
    replicaSetController,
    podGarbageCollector(),
  ]);
  open.push(() => running.close());
  const { client, clock, server } = running;
  for (const name of ["default", "kube-node-lease"]) await client.of(kinds.Namespace).create({ metadata: { name } });
  const nodes = await testFleet({ server, count: 3 });
  open.push(() => nodes.close());
  const labels = { app: "web" };
  const spec = {
    containers: [{ name: "c", image: "i" }],
    tolerations: TOLERATIONS,
    automountServiceAccountToken: false,
  };
  await client
    .of(kinds.ReplicaSet)
    .in("default")
    .create({
      metadata: { name: "web" },
      spec: { replicas: 6, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    });
  const live = async (ms: number) => {
    for (let left = ms; left > 0; left -= 10_000) {
      await placePods(client);
      await clock.advance(Math.min(left, 10_000));
    }
  };
  await live(MINUTE);
  const on = async (node: string) =>
    (await client.of(kinds.Pod).in("default").list()).items.filter(({ spec }) => spec?.nodeName === node);
  const ready = async () => (await client.of(kinds.ReplicaSet).in("default").get("web")).status?.readyReplicas;
  return { ...running, ...nodes, live, on, ready };
}

const states = (pods: readonly core.Pod[]) =>
  pods.map(({ metadata, status }) => (metadata.deletionTimestamp === undefined ? status?.phase : "ending"));

describe("a simulated node that fails", () => {
  it("loses its Pods to other nodes, and lets go of them when it is back", async () => {
    const { fleet, node, live, on, ready } = await cluster();
    expect(await ready()).toBe(6);
    expect((await node("node-1")).spec?.podCIDR).toMatch(/^10\.244\./);
    const victims = await on("node-1");
    expect(new Set(states(victims))).toEqual(new Set(["Running"]));

    fleet.stopNode("node-1");
    await live(MINUTE);
    const silent = await node("node-1");
    expect(silent.status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("Unknown");
    expect(silent.spec?.taints?.map(({ key, effect }) => `${key}:${effect}`).sort()).toEqual([
      "node.kubernetes.io/unreachable:NoExecute",
      "node.kubernetes.io/unreachable:NoSchedule",
    ]);
    await live(MINUTE);
    expect(states(await on("node-1"))).toEqual(victims.map(() => "ending"));
    expect(await ready()).toBe(6);

    fleet.startNode("node-1");
    await live(MINUTE);
    expect(await on("node-1")).toEqual([]);
    expect((await node("node-1")).spec?.taints).toBeUndefined();
    expect(await ready()).toBe(6);
  });
});
