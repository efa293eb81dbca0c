import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { type apps, type core, kinds, StatusError } from "#api";
import { inDeletionOrder } from "../pods/index.ts";
import { podWith, reportPods, testControllers } from "../testing/index.ts";
import { replicaSetController, replicationController } from "./index.ts";
import { planReplicas } from "./plan.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const labels = { app: "web" };
const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
const set = (replicas: number, minReadySeconds = 0): apps.ReplicaSet => ({
  metadata: { name: "web", namespace: "default" },
  spec: { replicas, minReadySeconds, selector: { matchLabels: labels }, template },
});

async function cluster() {
  const running = await testControllers([replicaSetController, replicationController]);
  open.push(() => running.close());
  const { client } = running;
  await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
  const sets = client.of(kinds.ReplicaSet).in("default");
  const pods = async () => (await client.of(kinds.Pod).list()).items;
  const status = async () => (await sets.get("web")).status;
  return { ...running, sets, pods, status };
}

describe("a ReplicaSet", () => {
  it("has as many Pods as it asks for, more and fewer", async () => {
    const { sets, settle, pods, status, client, clock } = await cluster();
    await sets.create(set(5));
    await settle();
    expect(await pods()).toHaveLength(5);
    expect((await pods())[0]?.metadata).toMatchObject({
      name: expect.stringMatching(/^web-[a-z0-9]{5}$/),
      labels,
      ownerReferences: [
        { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", controller: true, blockOwnerDeletion: true },
      ],
    });
    await reportPods(client, clock.now());
    await settle();
    expect(await status()).toMatchObject({
      replicas: 5,
      readyReplicas: 5,
      availableReplicas: 5,
      fullyLabeledReplicas: 5,
      observedGeneration: 1,
    });
    await sets.patch("web", { type: "merge", object: { spec: { replicas: 2 } } });
    await settle();
    expect((await pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toHaveLength(2);
  });

  it("replaces what nodes reject less and less often", async () => {
    const { sets, settle, pods, client, clock } = await cluster();
    await sets.create(set(2));
    const rejected: core.PodStatus = { phase: "Failed", message: "Pod was rejected: no room" };
    const startMs = clock.now();
    const counts: number[] = [];
    for (let second = 0; second <= 180; second++) {
      // A node rejects at once what it gets.
      for (let round = 0; round < 3; round++) {
        await settle();
        for (const pod of await pods())
          if (pod.status?.phase !== "Failed")
            await client
              .of(kinds.Pod)
              .in("default")
              .updateStatus({ ...pod, status: rejected });
      }
      if ([0, 1, 3, 10, 180].includes(second)) counts.push((await pods()).length);
      await clock.advance(startMs + (second + 1) * 1000 - clock.now());
    }
    expect(counts).toEqual([4, 6, 8, 10, 18]);
  });

  it("replaces what fails or is deleted", async () => {
    const { sets, settle, pods, client, clock } = await cluster();
    await sets.create(set(3));
    await settle();
    const [first, second] = await pods();
    await reportPods(
      client,
      clock.now(),
      { phase: "Failed" },
      ({ metadata }) => metadata.name === first?.metadata.name,
    );
    await client
      .of(kinds.Pod)
      .in("default")
      .delete(second?.metadata.name ?? "", { gracePeriodSeconds: 0 });
    await settle();
    const left = await pods();
    expect(left.filter(({ status }) => status?.phase !== "Failed")).toHaveLength(3);
    expect(left).toHaveLength(4);
  });

  it("takes in Pods that nobody has, and lets go of those that no longer fit", async () => {
    const { sets, settle, pods, client } = await cluster();
    await client
      .of(kinds.Pod)
      .create({ ...podWith("orphan", { labels }), metadata: { name: "orphan", namespace: "default", labels } });
    await sets.create(set(2));
    await settle();
    expect((await pods()).map(({ metadata }) => metadata.ownerReferences?.length)).toEqual([1, 1]);
    await client
      .of(kinds.Pod)
      .in("default")
      .patch("orphan", { type: "merge", object: { metadata: { labels: { app: "other" } } } });
    await settle();
    const all = await pods();
    expect(all).toHaveLength(3);
    expect(all.find(({ metadata }) => metadata.name === "orphan")?.metadata.ownerReferences).toBeUndefined();
  });

  it("counts a Pod as available only after minReadySeconds", async () => {
    const { sets, settle, status, client, clock } = await cluster();
    await sets.create(set(1, 30));
    await settle();
    await reportPods(client, clock.now());
    await settle();
    expect(await status()).toMatchObject({ readyReplicas: 1 });
    expect((await status())?.availableReplicas ?? 0).toBe(0);
    await clock.advance(31_000);
    expect(await status()).toMatchObject({ availableReplicas: 1 });
  });

  it("says what it could not do, and forgets it when it could", async () => {
    const { sets, settle, status, client, clock, refuse } = await cluster();
    refuse(({ method, path }) =>
      method === "POST" && path.endsWith("/pods") ? new StatusError("Forbidden", "exceeded quota") : undefined,
    );
    await sets.create(set(1));
    await settle();
    expect((await status())?.conditions).toMatchObject([
      { type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "exceeded quota" },
    ]);
    const events = (await client.of(kinds.Event).list()).items;
    expect(events).toMatchObject([{ type: "Warning", reason: "FailedCreate", note: "Error creating: exceeded quota" }]);
    refuse(() => undefined);
    await clock.advance(60_000);
    expect((await status())?.conditions ?? []).toEqual([]);
  });

  it("writes nothing when there is nothing to say", async () => {
    const { sets, settle, clock, client, writes } = await cluster();
    await sets.create(set(3));
    await settle();
    await reportPods(client, clock.now());
    await settle();
    const before = writes();
    await clock.advance(24 * 3600_000);
    expect(writes()).toBe(before);
  });

  it("converges from a stop after any write, with no Pod too many", async () => {
    for (let limit = 1; limit <= 8; limit++) {
      const first = await cluster();
      let writes = 0;
      first.refuse(({ method }) => {
        if (method !== "GET" && ++writes === limit) void first.stop();
        return undefined;
      });
      await first.sets.create(set(4));
      await first.settle();
      await first.stop();
      const second = await testControllers([replicaSetController], { server: first.server });
      open.push(() => second.close());
      await second.settle();
      await second.clock.advance(60_000);
      expect(await first.pods()).toHaveLength(4);
    }
  });
});

describe("a ReplicationController", () => {
  it("does the same", async () => {
    const { client, settle, pods } = await cluster();
    await client.of(kinds.ReplicationController).create({
      metadata: { name: "rc", namespace: "default" },
      spec: { replicas: 2, selector: labels, template },
    });
    await settle();
    expect((await pods()).map(({ metadata }) => metadata.ownerReferences?.[0]?.kind)).toEqual([
      "ReplicationController",
      "ReplicationController",
    ]);
    expect((await client.of(kinds.ReplicationController).in("default").get("rc")).status).toMatchObject({
      replicas: 2,
      observedGeneration: 1,
    });
  });
});

describe("which Pod goes first", () => {
  it.each([
    { name: "one without a node", first: { phase: "Pending" }, second: { phase: "Pending", node: "n" } },
    { name: "one that has not started", first: { phase: "Pending", node: "n" }, second: { node: "n" } },
    { name: "one that is not ready", first: { node: "n", ready: false }, second: { node: "n" } },
    {
      name: "the cheaper",
      first: { node: "n", annotations: { "controller.kubernetes.io/pod-deletion-cost": "-5" } },
      second: { node: "n" },
    },
    { name: "one with siblings on its node", first: { node: "crowded" }, second: { node: "n" } },
    {
      name: "the one that became ready last",
      first: { node: "n", since: "2030-01-02T00:00:00Z" },
      second: { node: "n" },
    },
    { name: "the one that was restarted", first: { node: "n", restarts: 3 }, second: { node: "n" } },
    { name: "the youngest", first: { node: "n", created: "2030-01-02T00:00:00Z" }, second: { node: "n" } },
  ] as const)("$name", ({ first, second }) => {
    const pods: core.Pod[] = [podWith("b", second), podWith("a", first)];
    const siblings = ({ spec }: core.Pod) => (spec?.nodeName === "crowded" ? 3 : 1);
    expect(inDeletionOrder(pods, siblings).map(({ metadata }) => metadata.name)).toEqual(["a", "b"]);
  });
});

describe("a plan for replicas", () => {
  it("never leaves more or fewer than asked for", () => {
    const phases = fc.constantFrom("Pending", "Running", "Succeeded", "Failed", "Unknown");
    fc.assert(
      fc.property(
        fc.nat(30),
        fc.array(fc.record({ phase: phases, ending: fc.boolean() }), { maxLength: 40 }),
        (replicas, facts) => {
          const pods = facts.map((each, at) => podWith(`p${at}`, each));
          const active = pods.filter(
            ({ metadata, status }) =>
              metadata.deletionTimestamp === undefined && !["Succeeded", "Failed"].includes(status?.phase ?? ""),
          );
          const plan = planReplicas(
            {
              object: set(replicas),
              kind: { apiVersion: "apps/v1", kind: "ReplicaSet" },
              replicas,
              minReadySeconds: 0,
              template,
              status: { replicas: 0 },
              countsTerminating: true,
              withStatus: () => ({ verb: "updateStatus", resource: kinds.ReplicaSet, object: set(replicas) }),
            },
            pods,
            () => 1,
            0,
          );
          const writes = plan.steps?.flat() ?? [];
          const after =
            active.length +
            writes.filter(({ verb }) => verb === "create").length -
            writes.filter(({ verb }) => verb === "delete").length;
          expect(after).toBe(replicas);
          for (const write of writes) if (write.verb === "delete") expect(active).toContain(write.object);
        },
      ),
    );
  });
});
