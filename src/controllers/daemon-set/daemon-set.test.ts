import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { type apps, type core, kinds, StatusError } from "#api";
import { isReady } from "../pods/index.ts";
import { podWith, reportPods, testControllers } from "../testing/index.ts";
import { nodeOf, podsByNode, tolerationsOf } from "./daemon-pod.ts";
import { daemonSetController } from "./index.ts";
import { nodeFit } from "./node-fit.ts";
import { placementOf } from "./place.ts";
import { rollingStep } from "./rolling.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const labels = { app: "agent" };
const templateOf = (image: string, spec: Partial<core.PodSpec> = {}): core.PodTemplateSpec => ({
  metadata: { labels },
  spec: { terminationGracePeriodSeconds: 0, containers: [{ name: "c", image }], ...spec },
});

function daemons(spec: Partial<apps.DaemonSetSpec> = {}): apps.DaemonSet {
  return {
    metadata: { name: "agent", namespace: "default" },
    spec: { selector: { matchLabels: labels }, template: templateOf("agent:1"), ...spec },
  };
}

const spec = (object: object) => ({ type: "merge", object: { spec: { ...object } } }) as const;
const image = (name: string) => spec({ template: { spec: { containers: [{ name: "c", image: name }] } } });

async function cluster(count = 3, seed = 1) {
  const running = await testControllers([daemonSetController], { seed });
  open.push(() => running.close());
  const { client, clock, settle } = running;
  await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
  const nodes = client.of(kinds.Node);
  const addNode = (name: string, node: Partial<core.Node> = {}) =>
    nodes.create({ metadata: { name, labels: { zone: "a" } }, ...node });
  for (let at = 0; at < count; at++) await addNode(`n${at}`);
  const sets = client.of(kinds.DaemonSet).in("default");
  const all = async () => (await client.of(kinds.Pod).list()).items;
  const places = async () => (await all()).map(nodeOf).toSorted();
  const images = async () => (await all()).map((pod) => `${nodeOf(pod)} ${pod.spec?.containers[0]?.image}`).toSorted();
  const status = async () => (await sets.get("agent")).status;
  const report = (picks: (pod: core.Pod) => boolean = () => true) =>
    reportPods(client, clock.now(), {}, (pod) => !isReady(pod) && picks(pod));
  /** Every Pod becomes ready, again and again, until nothing moves any more. */
  const ready = async () => {
    for (let before = -1; before !== running.writes(); ) {
      before = running.writes();
      await report();
      await settle();
    }
  };
  return { ...running, sets, nodes, addNode, all, places, images, status, report, ready };
}

describe("a DaemonSet", () => {
  it("has a Pod on each node, bound to it and tolerant", async () => {
    const { sets, settle, places, all, status, ready, client } = await cluster();
    await sets.create(daemons());
    await settle();
    expect(await places()).toEqual(["n0", "n1", "n2"]);
    const [revision] = (await client.of(kinds.ControllerRevision).list()).items;
    const hash = revision?.metadata.labels?.["controller-revision-hash"] ?? "";
    expect(revision).toMatchObject({
      metadata: {
        name: `agent-${hash}`,
        labels: { app: "agent" },
        ownerReferences: [{ kind: "DaemonSet", name: "agent", controller: true }],
      },
      revision: 1,
      data: { spec: { template: { $patch: "replace" } } },
    });
    const [pod] = await all();
    expect(pod).toMatchObject({
      metadata: {
        generateName: "agent-",
        labels: { app: "agent", "controller-revision-hash": hash, "pod-template-generation": "1" },
        ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "agent", controller: true }],
      },
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [
                { matchFields: [{ key: "metadata.name", operator: "In", values: [nodeOf(pod ?? podWith(""))] }] },
              ],
            },
          },
        },
        tolerations: [
          { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
          { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute" },
          { key: "node.kubernetes.io/disk-pressure", operator: "Exists", effect: "NoSchedule" },
          { key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: "NoSchedule" },
          { key: "node.kubernetes.io/pid-pressure", operator: "Exists", effect: "NoSchedule" },
          { key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" },
        ],
      },
    });
    await ready();
    expect(await status()).toEqual({
      observedGeneration: 1,
      currentNumberScheduled: 3,
      desiredNumberScheduled: 3,
      numberAvailable: 3,
      numberMisscheduled: 0,
      numberReady: 3,
      updatedNumberScheduled: 3,
    });
    const notes = (await client.of(kinds.Event).list()).items.map(({ reason, note }) => `${reason}: ${note}`);
    expect(notes).toContain(`SuccessfulCreate: Created pod: ${pod?.metadata.name}`);
  });

  it("follows nodes that come, go and change", async () => {
    const { sets, settle, places, nodes, addNode, status, ready } = await cluster(1);
    await sets.create(daemons({ template: templateOf("agent:1", { nodeSelector: { zone: "a" } }) }));
    await settle();
    await addNode("n1");
    await addNode("elsewhere", { metadata: { name: "elsewhere", labels: { zone: "b" } } });
    await settle();
    expect(await places()).toEqual(["n0", "n1"]);
    await nodes.patch("elsewhere", { type: "merge", object: { metadata: { labels: { zone: "a" } } } });
    await settle();
    expect(await places()).toEqual(["elsewhere", "n0", "n1"]);
    await ready();
    await nodes.patch("n0", { type: "merge", object: { metadata: { labels: { zone: "b" } } } });
    await settle();
    expect(await places()).toEqual(["elsewhere", "n1"]);
    await nodes.delete("elsewhere", {});
    await settle();
    expect(await status()).toMatchObject({ desiredNumberScheduled: 1 });
    // Its Pod was never placed: nobody else would delete it.
    expect(await places()).toEqual(["n1"]);
  });

  it("a taint keeps new Pods away; only NoExecute drives out those that are there", async () => {
    const { sets, settle, places, nodes, status, addNode } = await cluster(1);
    await sets.create(daemons());
    await settle();
    const taint = (effect: string) => spec({ taints: [{ key: "mine", effect }] });
    await nodes.patch("n0", taint("NoSchedule"));
    await addNode("n1", { spec: { taints: [{ key: "mine", effect: "NoSchedule" }] } });
    await settle();
    expect(await places()).toEqual(["n0"]);
    expect(await status()).toMatchObject({ desiredNumberScheduled: 0, numberMisscheduled: 1 });
    await nodes.patch("n0", taint("NoExecute"));
    await settle();
    expect(await places()).toEqual([]);
  });

  it("replaces old Pods, at most maxUnavailable nodes at a time", async () => {
    const { sets, settle, images, report, ready, status, client } = await cluster(4);
    await sets.create(daemons({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 2 } } }));
    await ready();
    await sets.patch("agent", image("agent:2"));
    await settle();
    const updated = async () => (await images()).filter((each) => each.endsWith("agent:2")).length;
    expect(await updated()).toBe(2);
    let first = true;
    await report(() => {
      const picked = first;
      first = false;
      return picked;
    });
    await settle();
    expect(await updated()).toBe(3);
    await ready();
    expect(await updated()).toBe(4);
    expect(await status()).toMatchObject({ updatedNumberScheduled: 4, numberAvailable: 4 });
    expect((await client.of(kinds.ControllerRevision).list()).items.map(({ revision }) => revision)).toHaveLength(2);
  });

  it("surges: the old Pod goes when the new one beside it is available", async () => {
    const { sets, settle, images, ready } = await cluster(2);
    await sets.create(
      daemons({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } }),
    );
    await ready();
    await sets.patch("agent", image("agent:2"));
    await settle();
    expect((await images()).filter((each) => each.endsWith("agent:1"))).toHaveLength(2);
    expect((await images()).filter((each) => each.endsWith("agent:2"))).toHaveLength(1);
    await ready();
    expect(await images()).toEqual(["n0 agent:2", "n1 agent:2"]);
  });

  it("OnDelete: a Pod gets the new template when somebody deletes it", async () => {
    const { sets, settle, images, ready, all, client, status } = await cluster(2);
    await sets.create(daemons({ updateStrategy: { type: "OnDelete" } }));
    await ready();
    await sets.patch("agent", image("agent:2"));
    await settle();
    expect(await images()).toEqual(["n0 agent:1", "n1 agent:1"]);
    expect((await status())?.updatedNumberScheduled ?? 0).toBe(0);
    const on0 = (await all()).find((pod) => nodeOf(pod) === "n0")?.metadata.name ?? "";
    await client.of(kinds.Pod).in("default").delete(on0, { gracePeriodSeconds: 0 });
    await settle();
    expect(await images()).toEqual(["n0 agent:2", "n1 agent:1"]);
  });

  it("goes back to a revision that it had, and forgets old ones", async () => {
    const { sets, ready, client } = await cluster(1);
    await sets.create(daemons({ revisionHistoryLimit: 1 }));
    await ready();
    for (const each of ["agent:2", "agent:1", "agent:4"]) {
      await sets.patch("agent", image(each));
      await ready();
    }
    const { items } = await client.of(kinds.ControllerRevision).list();
    expect(items.map(({ revision }) => revision).toSorted()).toEqual([3, 4]);
  });

  it("replaces what failed: at once, then later and later", async () => {
    const { sets, settle, all, client, clock } = await cluster(1);
    await sets.create(daemons());
    await settle();
    const uid = async () => (await all())[0]?.metadata.uid;
    const fail = () => reportPods(client, clock.now(), { phase: "Failed" });
    const first = await uid();
    await fail();
    await settle();
    const second = await uid();
    expect(second).not.toBe(first);
    const [event] = (await client.of(kinds.Event).list()).items.filter(({ reason }) => reason === "FailedDaemonPod");
    expect(event?.note).toMatch(/^Found failed daemon pod default\/agent-\w+ on node n0, will try to kill it$/);
    await fail();
    await settle();
    expect(await uid()).toBe(second);
    await clock.advance(1_000);
    const third = await uid();
    expect(third).not.toBe(second);
    await fail();
    await clock.advance(1_500);
    expect(await uid()).toBe(third);
    await clock.advance(1_000);
    expect(await uid()).not.toBe(third);
  });

  it("takes in Pods that nobody has, and lets go of those that no longer fit", async () => {
    const { sets, settle, all, client, places } = await cluster(1);
    const { spec: running } = podWith("", { node: "n0" });
    await client
      .of(kinds.Pod)
      .create({ ...(running && { spec: running }), metadata: { name: "orphan", namespace: "default", labels } });
    await sets.create(daemons({ updateStrategy: { type: "OnDelete" } }));
    await settle();
    expect((await all()).map(({ metadata }) => [metadata.name, metadata.ownerReferences?.length])).toEqual([
      ["orphan", 1],
    ]);
    await client
      .of(kinds.Pod)
      .in("default")
      .patch("orphan", { type: "merge", object: { metadata: { labels: { app: "other" } } } });
    await settle();
    expect(await places()).toEqual(["n0", "n0"]);
  });

  it("makes another name where one is taken", async () => {
    const { sets, settle, client, status } = await cluster(1);
    await sets.create(daemons());
    await settle();
    const [first] = (await client.of(kinds.ControllerRevision).list()).items;
    const name = first?.metadata.name ?? "";
    await sets.delete("agent", { propagationPolicy: "Background" });
    await client.of(kinds.ControllerRevision).in("default").delete(name, {});
    await client
      .of(kinds.ControllerRevision)
      .create({ metadata: { name, namespace: "default" }, revision: 1, data: { a: 1 } });
    await settle();
    await sets.create(daemons());
    await settle();
    expect(await status()).toMatchObject({ collisionCount: 1, desiredNumberScheduled: 1 });
    expect((await client.of(kinds.ControllerRevision).list()).items).toHaveLength(2);
  });

  it("writes nothing when there is nothing to say, heartbeats of nodes included", async () => {
    const { sets, ready, clock, writes, nodes, settle } = await cluster();
    await sets.create(daemons());
    await ready();
    await sets.patch("agent", image("agent:2"));
    await ready();
    const before = writes();
    const node = await nodes.get("n0");
    await nodes.updateStatus({
      ...node,
      status: { conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: "2030-01-01T00:00:00Z" }] },
    });
    await settle();
    await clock.advance(24 * 3600_000);
    expect(writes()).toBe(before);
  });

  it("arrives through refusals of every kind", async () => {
    const { sets, ready, refuse, random, clock, images } = await cluster(3, 9);
    refuse(({ method }) => {
      if (method === "GET" || random.next() > 0.3) return undefined;
      const reason = (["Conflict", "TooManyRequests", "InternalError"] as const)[random.integer(3)];
      return new StatusError(reason ?? "Conflict", "not now");
    });
    await sets.create(daemons());
    for (let at = 0; at < 30; at++) {
      await clock.advance(10_000);
      await ready();
    }
    await sets.patch("agent", image("agent:2"));
    for (let at = 0; at < 60; at++) {
      await clock.advance(10_000);
      await ready();
    }
    expect(await images()).toEqual(["n0 agent:2", "n1 agent:2", "n2 agent:2"]);
  });

  it("converges from a stop after any write", async () => {
    for (let limit = 1; limit <= 10; limit++) {
      const first = await cluster(2);
      await first.sets.create(daemons());
      await first.ready();
      let writes = 0;
      first.refuse(({ method }) => {
        if (method !== "GET" && ++writes === limit) void first.stop();
        return undefined;
      });
      await first.sets.patch("agent", image("agent:2"));
      await first.ready();
      await first.stop();
      const second = await testControllers([daemonSetController], { server: first.server });
      open.push(() => second.close());
      for (let at = 0; at < 6; at++) {
        await second.settle();
        await first.report();
      }
      await second.settle();
      expect(await first.images()).toEqual(["n0 agent:2", "n1 agent:2"]);
      expect(await first.status()).toMatchObject({ updatedNumberScheduled: 2, numberAvailable: 2 });
      expect((await first.client.of(kinds.ControllerRevision).list()).items).toHaveLength(2);
    }
  });
});

describe("whether a node fits", () => {
  const term = (...matchExpressions: core.NodeSelectorRequirement[]): core.Affinity => ({
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] } },
  });
  const node: core.Node = {
    metadata: { name: "n", labels: { zone: "a", cores: "8" } },
    spec: {
      taints: [
        { key: "soft", effect: "PreferNoSchedule" },
        { key: "hard", value: "1", effect: "NoSchedule" },
      ],
    },
  };
  const hard: core.Toleration = { key: "hard", operator: "Exists" };

  it.each<{ name: string; pod: Partial<core.PodSpec>; runs?: boolean; stays?: boolean }>([
    { name: "a taint keeps it away, but not out", pod: {}, stays: true },
    { name: "which it tolerates", pod: { tolerations: [hard] }, runs: true, stays: true },
    { name: "by its value", pod: { tolerations: [{ key: "hard", value: "1" }] }, runs: true, stays: true },
    { name: "not by another value", pod: { tolerations: [{ key: "hard", value: "2" }] }, stays: true },
    { name: "not for another effect", pod: { tolerations: [{ ...hard, effect: "NoExecute" }] }, stays: true },
    { name: "as everything else", pod: { tolerations: [{ operator: "Exists" }] }, runs: true, stays: true },
    { name: "a label it has", pod: { tolerations: [hard], nodeSelector: { zone: "a" } }, runs: true, stays: true },
    { name: "a label it has not", pod: { tolerations: [hard], nodeSelector: { zone: "b" } } },
    { name: "another name", pod: { tolerations: [hard], nodeName: "m" } },
    {
      name: "more cores than 4",
      pod: { tolerations: [hard], affinity: term({ key: "cores", operator: "Gt", values: ["4"] }) },
      runs: true,
      stays: true,
    },
    { name: "no zone", pod: { tolerations: [hard], affinity: term({ key: "zone", operator: "DoesNotExist" }) } },
    { name: "nothing at all", pod: { tolerations: [hard], affinity: term() } },
  ])("$name", ({ pod, runs = false, stays = false }) => {
    expect(nodeFit({ containers: [], ...pod })(node)).toEqual({ runs, stays });
  });

  it("daemons on the host's network tolerate that there is none", () => {
    expect(tolerationsOf({ hostNetwork: true }).map(({ key }) => key)).toContain(
      "node.kubernetes.io/network-unavailable",
    );
    expect(tolerationsOf({ tolerations: [{ key: "mine" }] })[0]).toEqual({ key: "mine" });
    expect(tolerationsOf({ tolerations: tolerationsOf({}) })).toEqual(tolerationsOf({}));
  });
});

describe("a step of a rolling update", () => {
  it("never leaves more nodes without an available Pod than it may", () => {
    const facts = fc.record({ fresh: fc.boolean(), ready: fc.boolean(), there: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(facts, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 6 }),
        (all, maxUnavailable) => {
          const set = daemons({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable } } });
          const nodes = all.map((_, at): core.Node => ({ metadata: { name: `n${at}` } }));
          const pods = all.flatMap(({ fresh, ready, there }, at) =>
            there
              ? [
                  podWith(`p${at}`, {
                    node: `n${at}`,
                    ready,
                    labels: { "controller-revision-hash": fresh ? "new" : "old" },
                  }),
                ]
              : [],
          );
          const known = {
            set,
            hash: "new",
            nodes,
            byNode: podsByNode(pods),
            fitOf: () => ({ runs: true, stays: true }),
            failureWaitMs: () => 0,
            surges: false,
            now: 0,
          };
          const before = pods.filter(isReady).length;
          const taken = rollingStep(known).delete;
          const after = before - taken.filter(isReady).length;
          expect(after).toBeGreaterThanOrEqual(Math.min(before, all.length - maxUnavailable));
          for (const pod of taken) expect(pod.metadata.labels?.["controller-revision-hash"]).toBe("old");
          expect(placementOf(known).create).toHaveLength(all.filter(({ there }) => !there).length);
        },
      ),
    );
  });
});
