/** The scheduler at work on an API server: what users see, as nodes and pods come and go. */
import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, type policy } from "#api";
import { revisionOf } from "#client";
import { CAUSE_HEADER, readCause } from "#flows";
import { node, pod } from "./testing/index.ts";
import { type TestScheduler, type TestSchedulerOptions, testScheduler } from "./testing/test-scheduler.ts";

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function scheduler(options: TestSchedulerOptions = {}) {
  const running = await testScheduler(options);
  open.push(() => running.close());
  return running;
}

const ZONE = "topology.kubernetes.io/zone";
const important = { priority: 1000 };
const cpu = (amount: string) => ({ requests: { cpu: amount } });

describe("a scheduler", () => {
  it("binds a pod, and says so", async () => {
    const { addNode, addPod, settle, pod: get, events, registry, explanations } = await scheduler();
    await addNode(node("a"));
    await addNode(node("b", { unschedulable: true }));
    await addPod(pod("web", cpu("1")));
    await settle();
    const { metadata, spec, status } = await get("web");
    expect(spec?.nodeName).toBe("a");
    expect(status?.conditions).toMatchObject([{ type: "PodScheduled", status: "True" }]);
    expect(await events("web")).toEqual(["Scheduled: Successfully assigned default/web to a"]);
    expect(registry.text()).toContain(
      'scheduler_schedule_attempts_total{result="scheduled",profile="default-scheduler"} 1',
    );
    expect(explanations.of(metadata.uid ?? "")).toMatchObject([
      {
        attempt: 1,
        outcome: { kind: "scheduled", node: "a" },
        fitting: 1,
        rejections: [{ rejection: { plugin: "NodeUnschedulable" }, nodes: 1 }],
      },
    ]);
  });

  it("says why a pod fits nowhere, and tries again when a node comes that could hold it", async () => {
    const { addNode, addPod, settle, places, pod: get, events, explanations } = await scheduler();
    await addNode(node("small", { allocatable: { cpu: "1" } }));
    await addNode(node("tainted", { taints: [{ key: "k", effect: "NoSchedule" }] }));
    await addPod(pod("web", cpu("2")));
    await settle();
    const message =
      "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). " +
      "no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.";
    const { metadata, status } = await get("web");
    expect(status?.conditions).toMatchObject([
      { type: "PodScheduled", status: "False", reason: "Unschedulable", message, observedGeneration: 1 },
    ]);
    expect(await events("web")).toEqual([`FailedScheduling: ${message}`]);
    const [attempt] = explanations.of(metadata.uid ?? "");
    expect(attempt?.verdictOn("small")).toMatchObject({ plugin: "NodeResourcesFit", reasons: ["Insufficient cpu"] });
    expect(attempt?.verdictOn("tainted")).toMatchObject({ plugin: "TaintToleration" });
    const taints = [{ key: "k", effect: "NoSchedule" as const }];
    await addNode(node("another", { allocatable: { cpu: "1" }, taints }));
    await settle();
    expect(explanations.of(metadata.uid ?? "")).toHaveLength(1);
    await addNode(node("large"));
    await settle();
    expect(await places()).toEqual({ web: "large" });
  });

  it("tells what led to its word on a pod, that it fits nowhere or that it has a node", async () => {
    const { addNode, addPod, settle, requests, pod: get, client } = await scheduler();
    const small = (name: string) => node(name, { allocatable: { cpu: "1" } });
    const told = () =>
      requests()
        .filter(({ path }) => path.endsWith("/pods/web/status"))
        .map(({ headers }) => readCause(headers[CAUSE_HEADER]));
    await addNode(small("a"));
    await addPod(pod("web", cpu("2")));
    const created = revisionOf(await get("web"));
    await settle();
    const patched = revisionOf(await get("web"));
    const first = (await get("web")).status?.conditions?.[0]?.message;
    expect(told()).toMatchObject([{ actor: "scheduler", about: "default/web", woken: [created], decided: first }]);
    await addNode(node("b", { unschedulable: true }));
    await settle();
    const added = revisionOf(await client.of(kinds.Node).get("b"));
    expect(told().slice(1)).toMatchObject([{ woken: [patched, added] }]);
    const changed = revisionOf(await get("web"));
    await addNode(node("c"));
    const enough = revisionOf(await client.of(kinds.Node).get("c"));
    await settle();
    const binding = requests().find(({ path }) => path.endsWith("/binding"));
    expect(readCause(binding?.headers[CAUSE_HEADER])).toMatchObject({ woken: [changed, enough] });
  });

  it("waits for the first node, and for gates to go", async () => {
    const { addNode, addPod, settle, places, events, client, registry } = await scheduler();
    await addPod(pod("early"));
    await addPod(pod("gated", { spec: { schedulingGates: [{ name: "example.com/a" }] } }));
    await settle();
    expect(await events("early")).toEqual(["FailedScheduling: no nodes available to schedule pods"]);
    expect(registry.text()).toContain('scheduler_pending_pods{queue="gated"} 1');
    await addNode(node("a"));
    await settle();
    expect(await places()).toEqual({ early: "a", gated: undefined });
    await client
      .of(kinds.Pod)
      .in("default")
      .patch("gated", { type: "json", operations: [{ op: "remove", path: "/spec/schedulingGates" }] });
    await settle();
    expect(await places()).toEqual({ early: "a", gated: "a" });
  });

  it("tries those again that a nomination kept away, once it is void", async () => {
    const { addNode, addPod, settle, places, client } = await scheduler();
    await addNode(node("a"));
    await addPod(pod("vip", { ...cpu("3"), spec: { ...important, nodeSelector: { disk: "ssd" } } }));
    await settle();
    const nominate = async (nominatedNodeName: string | null) => {
      const status = client.of(kinds.Pod).in("default").subresource("vip", "status");
      await status.patch({ type: "merge", object: { status: { nominatedNodeName } } });
      await settle();
    };
    await nominate("a");
    await addPod(pod("web", cpu("3")));
    await settle();
    expect(await places()).toEqual({ vip: undefined, web: undefined });
    await nominate(null);
    expect(await places()).toEqual({ vip: undefined, web: "a" });
  });

  it("tries no pod that is going, and says so", async () => {
    const { addNode, addPod, settle, places, events, client } = await scheduler();
    await addPod(pod("web", { metadata: { name: "web", namespace: "default", finalizers: ["example.com/hold"] } }));
    await settle();
    await client.of(kinds.Pod).in("default").delete("web");
    await addNode(node("a"));
    await settle();
    expect(await places()).toEqual({ web: undefined });
    expect(await events("web")).toEqual([
      "FailedScheduling: no nodes available to schedule pods",
      "FailedScheduling: skip schedule deleting pod: default/web",
    ]);
  });

  it("leaves pods of other schedulers alone", async () => {
    const { addNode, addPod, settle, places } = await scheduler();
    await addNode(node("a"));
    await addPod(pod("theirs", { spec: { schedulerName: "another" } }));
    await settle();
    expect(await places()).toEqual({ theirs: undefined });
  });

  it("spreads over zones, and keeps apart what wants to be", async () => {
    const { addNode, addPod, settle, places } = await scheduler();
    for (const [name, zone] of [
      ["a1", "a"],
      ["a2", "a"],
      ["b1", "b"],
    ] as const)
      await addNode(node(name, { labels: { [ZONE]: zone } }));
    const labels = { app: "web" };
    const spread: Partial<core.PodSpec> = {
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: "DoNotSchedule", labelSelector: { matchLabels: labels } },
      ],
    };
    for (const name of ["w1", "w2", "w3", "w4"]) {
      await addPod(pod(name, { labels, spec: spread }));
      await settle();
    }
    const zones = Object.values(await places()).map((name) => name?.charAt(0));
    expect(zones.toSorted()).toEqual(["a", "a", "b", "b"]);

    const lonely = { app: "lonely" };
    const apart: Partial<core.PodSpec> = {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: lonely } },
          ],
        },
      },
    };
    for (const name of ["l1", "l2", "l3", "l4"]) await addPod(pod(name, { labels: lonely, spec: apart }));
    await settle();
    const { l1, l2, l3, l4 } = await places();
    expect([l1, l2, l3, l4].filter((name) => name !== undefined).toSorted()).toEqual(["a1", "a2", "b1"]);
  });

  it("gives a host port to one pod, and to the next when that has gone", async () => {
    const { addNode, addPod, settle, places, client } = await scheduler();
    await addNode(node("a"));
    await addPod(pod("first", { hostPorts: [80] }));
    await settle();
    await addPod(pod("second", { hostPorts: [80] }));
    await addPod(pod("third", { hostPorts: [81] }));
    await settle();
    expect(await places()).toEqual({ first: "a", second: undefined, third: "a" });
    await client.of(kinds.Pod).in("default").delete("first", { gracePeriodSeconds: 0 });
    await settle();
    expect(await places()).toEqual({ second: "a", third: "a" });
  });

  it("schedules by several profiles", async () => {
    const { defaultConfiguration } = await import("./configuration/index.ts");
    const { ALL_PLUGINS } = await import("./plugins/index.ts");
    const usual = defaultConfiguration(ALL_PLUGINS);
    const [profile] = usual.profiles;
    if (profile === undefined) throw new Error("there is no profile");
    const without = profile.plugins.filter.filter(({ name }) => name !== "TaintToleration");
    const careless = { ...profile, schedulerName: "careless", plugins: { ...profile.plugins, filter: without } };
    const { addNode, addPod, settle, places } = await scheduler({
      configuration: { ...usual, profiles: [profile, careless] },
    });
    await addNode(node("a", { taints: [{ key: "k", effect: "NoSchedule" }] }));
    await addPod(pod("careful"));
    await addPod(pod("careless", { spec: { schedulerName: "careless" } }));
    await settle();
    expect(await places()).toEqual({ careful: undefined, careless: "a" });
  });
});

describe("preemption", () => {
  /** Two nodes, each full of pods that are not important. */
  async function crowded(labels: Record<string, string> = {}): Promise<TestScheduler> {
    const running = await scheduler();
    for (const name of ["a", "b"]) {
      await running.addNode(node(name, { allocatable: { cpu: "2" } }));
      for (const at of [1, 2]) {
        const low = pod(`${name}${at}`, {
          ...cpu("1"),
          labels,
          spec: { nodeName: name, terminationGracePeriodSeconds: 30 },
        });
        await running.addPod({ ...low, metadata: { ...low.metadata, labels: { ...labels, on: name } } });
      }
    }
    await running.settle();
    return running;
  }

  /** As kubelets would. */
  async function letGo({ client, settle }: TestScheduler): Promise<readonly string[]> {
    const { items } = await client.of(kinds.Pod).list();
    const going = items.filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    for (const { metadata } of going) {
      await client
        .of(kinds.Pod)
        .in("default")
        .delete(metadata.name ?? "", { gracePeriodSeconds: 0 });
    }
    await settle();
    return going.map(({ metadata }) => metadata.name ?? "");
  }

  it("makes room for what is more important: tells the victims why, and waits for them to go", async () => {
    const running = await crowded();
    const { addPod, settle, pod: get, places, events, registry } = running;
    await addPod(pod("vip", { ...cpu("1"), spec: important }));
    await settle();
    const { metadata, status } = await get("vip");
    const nominated = status?.nominatedNodeName ?? "";
    expect(["a", "b"]).toContain(nominated);
    expect(status?.conditions).toMatchObject([
      { type: "PodScheduled", status: "False", message: "0/2 nodes are available: 2 Insufficient cpu." },
    ]);
    const { items } = await running.client.of(kinds.Pod).list();
    const victims = items.filter((each) => each.metadata.deletionTimestamp !== undefined);
    expect(victims).toMatchObject([
      {
        spec: { nodeName: nominated },
        status: {
          conditions: [
            {
              type: "DisruptionTarget",
              status: "True",
              reason: "PreemptionByScheduler",
              message: "default-scheduler: preempting to accommodate a higher priority pod",
            },
          ],
        },
      },
    ]);
    const [victim] = victims.map((each) => each.metadata.name ?? "");
    expect(await events(victim ?? "")).toEqual([`Preempted: Preempted by pod ${metadata.uid} on node ${nominated}`]);
    expect(await letGo(running)).toHaveLength(1);
    expect((await places()).vip).toBe(nominated);
    expect(registry.text()).toContain("scheduler_preemption_victims_sum 1");
    const count = (point: string, status: string) =>
      `scheduler_framework_extension_point_duration_seconds_count{extension_point="${point}",status="${status}",profile="default-scheduler"} `;
    for (const [point, status] of [
      ["Filter", "Success"],
      ["PostFilter", "Success"],
      ["PreBind", "Success"],
      ["Bind", "Success"],
    ] as const)
      expect(registry.text()).toContain(count(point, status));
    expect(registry.text()).toContain('scheduler_cache_size{type="assumed_pods"} 0');
  });

  it("keeps the room for whom it was made", async () => {
    const running = await crowded();
    const { addPod, settle, places } = running;
    await addPod(pod("vip", { ...cpu("1"), spec: important }));
    await settle();
    await addPod(pod("upstart", cpu("1")));
    await settle();
    await letGo(running);
    expect(await places()).toMatchObject({ vip: expect.any(String), upstart: undefined });
  });

  it("takes nothing from those that are as important, and never if it is told not to", async () => {
    const running = await crowded();
    const { addPod, settle, pod: get } = running;
    await addPod(pod("equal", cpu("1")));
    await addPod(pod("polite", { ...cpu("1"), spec: { ...important, preemptionPolicy: "Never" } }));
    await settle();
    const messageOf = async (name: string) => (await get(name)).status?.conditions?.[0]?.message;
    expect(await messageOf("equal")).toBe(
      "0/2 nodes are available: 2 Insufficient cpu. " +
        "no new claims to deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.",
    );
    expect(await messageOf("polite")).toBe(
      "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.",
    );
    expect(await letGo(running)).toEqual([]);
  });

  it("spares pods whose budget would be violated, if others will do", async () => {
    const running = await crowded();
    const { addPod, settle, client } = running;
    const budget: policy.PodDisruptionBudget = {
      metadata: { name: "keep", namespace: "default" },
      spec: { minAvailable: 2, selector: { matchLabels: { on: "a" } } },
    };
    await client.of(kinds.PodDisruptionBudget).in("default").create(budget);
    await settle();
    for (const name of ["v1", "v2"]) await addPod(pod(name, { ...cpu("1"), spec: important }));
    await settle();
    expect((await letGo(running)).toSorted()).toEqual(["b1", "b2"]);
  });
});
