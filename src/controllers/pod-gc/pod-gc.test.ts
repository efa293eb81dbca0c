import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, StatusError } from "#api";
import { podWith, testControllers } from "../testing/index.ts";
import { podGarbageCollector } from "./index.ts";
import { isForsaken, planEnd, planTerminated } from "./plan.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function cluster(server?: Awaited<ReturnType<typeof testControllers>>["server"]) {
  const collector = podGarbageCollector({ terminatedPodThreshold: 2 });
  const running = await testControllers([collector], { server });
  open.push(() => running.close());
  const { client, settle } = running;
  if (server === undefined) {
    await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
    await client.of(kinds.Node).create({ metadata: { name: "n" } });
  }
  const pods = client.of(kinds.Pod).in("default");
  const create = async (name: string, nodeName?: string, status?: core.PodStatus, finalizers: string[] = []) => {
    const spec = { containers: [{ name: "c", image: "i" }], ...(nodeName !== undefined && { nodeName }) };
    const made = await pods.create({ metadata: { name, finalizers }, spec });
    if (status !== undefined) await pods.updateStatus({ ...made, status });
  };
  const names = async () => {
    await settle();
    return (await pods.list()).items.map(({ metadata }) => metadata.name);
  };
  return { ...running, pods, create, names };
}

describe("Pods that have ended", () => {
  it("are deleted when there are too many, the oldest first", async () => {
    const { create, names, clock, writes } = await cluster();
    for (const name of ["a", "b", "c"]) {
      await create(name, "n", { phase: name === "b" ? "Failed" : "Succeeded" });
      await clock.advance(2000);
    }
    await create("running", "n", { phase: "Running" });
    expect(await names()).toEqual(["b", "c", "running"]);
    const before = writes();
    await clock.advance(3600_000);
    expect(writes()).toBe(before);
  });

  it("go in this order: evicted, older, by name", () => {
    const pods = [
      podWith("new", { phase: "Failed", created: "2030-01-02T00:00:00Z" }),
      podWith("b", { phase: "Failed" }),
      podWith("a", { phase: "Succeeded" }),
      podWith("evicted", { phase: "Failed", created: "2030-01-03T00:00:00Z" }),
    ].map((pod) => (pod.metadata.name === "evicted" ? { ...pod, status: { ...pod.status, reason: "Evicted" } } : pod));
    const order = (threshold: number) =>
      planTerminated(pods, threshold)
        .steps?.flat()
        .map(({ object }) => object.metadata.name);
    expect(order(0)).toEqual(["evicted", "a", "b", "new"]);
    expect(order(2)).toEqual(["evicted", "a"]);
    expect(order(4)).toBeUndefined();
  });
});

describe("a Pod whose node is gone", () => {
  it("is marked and deleted after 40 seconds", async () => {
    const { create, names, client, clock, pods } = await cluster();
    await create("a", "n", { phase: "Running" }, ["example.com/hold"]);
    await create("stray", "never-was", { phase: "Running" });
    await client.of(kinds.Node).delete("n");
    await clock.advance(39_000);
    expect(await names()).toEqual(["a", "stray"]);
    await clock.advance(2_000);
    expect(await names()).toEqual(["a"]);
    expect(await pods.get("a")).toMatchObject({
      metadata: { deletionTimestamp: expect.any(String), deletionGracePeriodSeconds: 0 },
      status: {
        phase: "Failed",
        conditions: [
          {
            type: "DisruptionTarget",
            status: "True",
            reason: "DeletionByPodGC",
            message: "PodGC: node no longer exists",
          },
        ],
      },
    });
  });

  it("stays if the node comes back in time", async () => {
    const { create, names, client, clock } = await cluster();
    await create("a", "n", { phase: "Running" });
    await client.of(kinds.Node).delete("n");
    await clock.advance(30_000);
    await client.of(kinds.Node).create({ metadata: { name: "n" } });
    await clock.advance(60_000);
    expect(await names()).toEqual(["a"]);
  });

  it("is deleted after failures, and after a stop", async () => {
    for (let limit = 1; limit <= 3; limit++) {
      const first = await cluster();
      await first.create("a", "n", { phase: "Running" });
      await first.client.of(kinds.Node).delete("n");
      let count = 0;
      first.refuse(({ method }) => {
        if (method === "GET") return undefined;
        if (++count === limit) void first.stop();
        return count === 1 ? new StatusError("InternalError", "not now") : undefined;
      });
      await first.clock.advance(45_000);
      await first.stop();
      const second = await cluster(first.server);
      await second.clock.advance(45_000);
      expect(await second.names()).toEqual([]);
    }
  });
});

describe("a Pod that is to end", () => {
  it("is deleted if it has no node", async () => {
    const { create, names, pods, clock, writes } = await cluster();
    await create("a", undefined, undefined, ["example.com/hold"]);
    await pods.delete("a");
    expect(await names()).toEqual(["a"]);
    expect((await pods.get("a")).status?.phase).toBe("Failed");
    const before = writes();
    await clock.advance(3600_000);
    expect(writes()).toBe(before);
  });

  it("is deleted if its node is out of service", async () => {
    const { create, names, pods, client, settle } = await cluster();
    await create("a", "n", { phase: "Running" });
    await pods.delete("a", { gracePeriodSeconds: 30 });
    expect(await names()).toEqual(["a"]);
    const taint = { key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" };
    await client.of(kinds.Node).patch("n", { type: "merge", object: { spec: { taints: [taint] } } });
    await settle();
    expect(await names()).toEqual([]);
  });

  const taint = { key: "node.kubernetes.io/out-of-service", effect: "NoExecute" } as const;
  const node = (ready: string): core.Node => ({
    metadata: { name: "n" },
    spec: { taints: [taint] },
    status: { conditions: [{ type: "Ready", status: ready }] },
  });
  it.each([
    { name: "on a node out of service", pod: podWith("a", { node: "n", ending: true }), on: node("False"), want: true },
    { name: "on a node that is ready", pod: podWith("a", { node: "n", ending: true }), on: node("True"), want: false },
    { name: "on no node", pod: podWith("a", { ending: true }), on: undefined, want: true },
    { name: "which is not to end", pod: podWith("a"), on: undefined, want: false },
  ])("is forsaken $name: $want", ({ pod, on, want }) => {
    expect(isForsaken(pod, on)).toBe(want);
  });

  it("keeps its phase if it has ended", () => {
    const verbs = planEnd(podWith("a", { phase: "Succeeded", ending: true }))
      .steps?.flat()
      .map(({ verb }) => verb);
    expect(verbs).toEqual(["delete"]);
  });
});
