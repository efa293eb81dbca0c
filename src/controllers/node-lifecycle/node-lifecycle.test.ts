import { afterEach, describe, expect, it } from "vitest";
import { type core, formatMicroTime, instantOf, kinds, StatusError } from "#api";
import { seededRandom } from "#base";
import { scriptedNodes, type TestControllers, testControllers } from "../testing/index.ts";
import { nodeLifecycleController } from "./index.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const MINUTE = 60_000;

async function cluster(server?: TestControllers["server"]) {
  const running = await testControllers([nodeLifecycleController()], { server });
  open.push(() => running.close());
  const { client, clock } = running;
  if (server === undefined)
    for (const name of ["default", "kube-node-lease"]) await client.of(kinds.Namespace).create({ metadata: { name } });
  const node = (name: string) => client.of(kinds.Node).get(name);
  return { ...running, nodes: scriptedNodes(client, clock), node };
}

const readyOf = ({ status }: core.Node) => status?.conditions?.find(({ type }) => type === "Ready");
const taintsOf = ({ spec }: core.Node) => (spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);
const driven = (node: core.Node) => taintsOf(node).some((taint) => taint.endsWith(":NoExecute"));

describe("node lifecycle", () => {
  it("leaves a node alone that is heard of, for an hour", async () => {
    const { nodes, node, writes } = await cluster();
    await nodes.add("a");
    await nodes.live(MINUTE);
    const before = writes();
    await nodes.live(60 * MINUTE);
    expect(writes()).toBe(before);
    expect(readyOf(await node("a"))?.status).toBe("True");
  });

  it("leaves a node alone that only posts its status", async () => {
    const { client, clock, node } = await cluster();
    await client.of(kinds.Node).create({ metadata: { name: "a" } });
    for (let at = 0; at < 10; at++) {
      const time = `2030-01-01T00:0${at}:00Z`;
      const conditions = [{ type: "Ready", status: "True", lastHeartbeatTime: time }];
      await client.of(kinds.Node).updateStatus({ ...(await node("a")), status: { conditions } });
      await clock.advance(40_000);
    }
    expect(readyOf(await node("a"))?.status).toBe("True");
    await clock.advance(15_000);
    expect(readyOf(await node("a"))?.status).toBe("Unknown");
  });

  it("gives a new node a minute to say something", async () => {
    const { client, clock, node, writes } = await cluster();
    await client.of(kinds.Node).create({ metadata: { name: "a" } });
    await clock.advance(59_000);
    expect((await node("a")).status?.conditions).toBeUndefined();
    await clock.advance(2_000);
    expect(readyOf(await node("a"))).toMatchObject({ status: "Unknown", reason: "NodeStatusNeverUpdated" });
    await clock.advance(MINUTE);
    expect(taintsOf(await node("a"))).toEqual(["node.kubernetes.io/unreachable:NoSchedule"]);
    const before = writes();
    await clock.advance(60 * MINUTE);
    expect(writes()).toBe(before);
  });

  it("follows conditions and cordons at once, and keeps labels as they were called", async () => {
    const { client, nodes, node, settle } = await cluster();
    await nodes.add("a", { "kubernetes.io/os": "linux" });
    await client.of(kinds.Node).patch("a", { type: "merge", object: { spec: { unschedulable: true } } });
    await settle();
    expect((await node("a")).metadata.labels).toEqual({
      "kubernetes.io/os": "linux",
      "beta.kubernetes.io/os": "linux",
    });
    expect(taintsOf(await node("a"))).toEqual(["node.kubernetes.io/unschedulable:NoSchedule"]);
    await client.of(kinds.Node).patch("a", { type: "merge", object: { spec: { unschedulable: null } } });
    await settle();
    expect((await node("a")).spec?.taints).toBeUndefined();
  });

  it("overwrites no taint that somebody else has just added", async () => {
    const { client, nodes, node, refuse, settle } = await cluster();
    await nodes.add("a");
    await settle();
    const other = { key: "example.com/x", effect: "NoSchedule" };
    let added: Promise<unknown> | undefined;
    // While the controller writes what follows from the cordon.
    refuse(({ method, path }) => {
      if (method === "PATCH" && path === "/api/v1/nodes/a")
        added ??= client.of(kinds.Node).patch("a", { type: "merge", object: { spec: { taints: [other] } } });
      return undefined;
    });
    await client.of(kinds.Node).patch("a", { type: "merge", object: { spec: { unschedulable: true } } });
    await settle();
    await added;
    await settle();
    expect(taintsOf(await node("a"))).toEqual([
      "example.com/x:NoSchedule",
      "node.kubernetes.io/unschedulable:NoSchedule",
    ]);
  });

  it("says who comes and goes", async () => {
    const { client, nodes, settle } = await cluster();
    await nodes.add("a");
    await settle();
    await client.of(kinds.Node).delete("a");
    await settle();
    const told = (await client.of(kinds.Event).in("default").list()).items.map(
      ({ reason, note, reportingController }) => [reportingController, reason, note].join(" | "),
    );
    expect(told).toEqual([
      "node-controller | RegisteredNode | Node a event: Registered Node a in Controller",
      "node-controller | RemovingNode | Node a event: Removing Node a from Controller",
    ]);
  });

  it("marks a Pod that is placed on a node of which nothing is known", async () => {
    const { client, nodes, settle, clock } = await cluster();
    await nodes.add("a");
    await nodes.add("b");
    await nodes.live(MINUTE);
    nodes.stop("a");
    await nodes.live(2 * MINUTE);
    const spec = { nodeName: "a", containers: [{ name: "c", image: "i" }] };
    const pod = await client
      .of(kinds.Pod)
      .in("default")
      .create({ metadata: { name: "late" }, spec });
    await settle();
    const conditions = [{ type: "Ready", status: "True" }];
    await client
      .of(kinds.Pod)
      .in("default")
      .updateStatus({ ...pod, status: { phase: "Running", conditions } });
    await client.of(kinds.Node).patch("a", { type: "merge", object: { metadata: { labels: { touched: "yes" } } } });
    await clock.advance(1000);
    const { status } = await client.of(kinds.Pod).in("default").get("late");
    expect(status?.conditions?.[0]?.status).toBe("False");
  });

  it("drives out the Pods of one node after the other, in each zone", async () => {
    const { nodes, node } = await cluster();
    const zone = (name: string) => ({ "topology.kubernetes.io/zone": name });
    const names = ["a0", "a1", "a2", "a3", "a4", "b0", "b1", "b2"];
    for (const name of names) await nodes.add(name, zone(name[0] ?? ""));
    await nodes.live(MINUTE);
    nodes.stop("a0", "a1", "b0");
    // They were heard of ten seconds before.
    await nodes.live(41_000);
    const out = async () => {
      const all = await Promise.all(names.map(node));
      return all.filter(driven).map(({ metadata }) => metadata.name);
    };
    expect(await out()).toEqual([]);
    await nodes.live(5_000);
    expect(await out()).toEqual(["a0", "b0"]);
    await nodes.live(8_000);
    expect(await out()).toEqual(["a0", "b0"]);
    await nodes.live(2_000);
    expect(await out()).toEqual(["a0", "a1", "b0"]);
  });

  it("takes back what it has begun when everything is down, and goes on when something is up", async () => {
    const { nodes, node } = await cluster();
    for (const name of ["a", "b"]) await nodes.add(name);
    await nodes.live(MINUTE);
    nodes.stop("a");
    await nodes.live(2 * MINUTE);
    expect(driven(await node("a"))).toBe(true);
    nodes.stop("b");
    await nodes.live(2 * MINUTE);
    expect([driven(await node("a")), driven(await node("b"))]).toEqual([false, false]);
    nodes.start("b");
    await nodes.live(MINUTE);
    expect([driven(await node("a")), driven(await node("b"))]).toEqual([true, false]);
  });

  it("finishes after being killed between any two writes, whatever fails", async () => {
    for (let limit = 1; limit <= 8; limit++) {
      const first = await cluster();
      const random = seededRandom(limit);
      for (const name of ["a", "b"]) await first.nodes.add(name);
      const spec = { nodeName: "a", containers: [{ name: "c", image: "i" }] };
      await first.client
        .of(kinds.Pod)
        .in("default")
        .create({ metadata: { name: "p" }, spec });
      await first.nodes.live(MINUTE);
      first.nodes.stop("a");
      let count = 0;
      first.refuse(({ method, path }) => {
        if (method === "GET" || path.includes("events")) return undefined;
        if (++count === limit) void first.stop();
        if (random.integer(3) > 0) return undefined;
        return new StatusError(random.integer(2) === 0 ? "Conflict" : "InternalError", "not now");
      });
      await first.nodes.live(2 * MINUTE);
      await first.stop();
      const second = await cluster(first.server);
      await first.nodes.live(2 * MINUTE);
      const dead = await second.node("a");
      expect(readyOf(dead)?.status).toBe("Unknown");
      expect([...taintsOf(dead)].sort()).toEqual([
        "node.kubernetes.io/unreachable:NoExecute",
        "node.kubernetes.io/unreachable:NoSchedule",
      ]);
      const pod = await second.client.of(kinds.Pod).in("default").get("p");
      expect(pod.status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("False");
      expect(taintsOf(await second.node("b"))).toEqual([]);
    }
  });

  it("reads no Lease of another namespace, and believes no clock but its own", async () => {
    const { client, nodes, clock, node } = await cluster();
    await nodes.add("a");
    await nodes.live(MINUTE);
    nodes.stop("a");
    const spec = { renewTime: formatMicroTime(instantOf(clock.now() + 3600_000)) };
    await client
      .of(kinds.Lease)
      .in("default")
      .create({ metadata: { name: "a" }, spec });
    await client.of(kinds.Lease).in("kube-node-lease").patch("a", { type: "merge", object: { spec } });
    await clock.advance(45_000);
    expect(readyOf(await node("a"))?.status).toBe("True");
    await clock.advance(10_000);
    expect(readyOf(await node("a"))?.status).toBe("Unknown");
  });
});
