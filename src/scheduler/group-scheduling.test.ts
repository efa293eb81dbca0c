/** Gangs on an API server: all or nothing, whatever comes first, and what is reported about it. */
import { afterEach, describe, expect, it } from "vitest";
import { type core, kinds, optional, type schedulingV1alpha2 } from "#api";
import { node, pod } from "./testing/index.ts";
import { type TestScheduler, testScheduler } from "./testing/test-scheduler.ts";

const GATES = ["GenericWorkload", "GangScheduling"];
const open: TestScheduler[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function scheduler({ nodes = 0, gates = GATES }: { nodes?: number; gates?: readonly string[] } = {}) {
  const running = await testScheduler({ gates });
  open.push(running);
  for (let at = 0; at < nodes; at++) await running.addNode(node(`n${at}`, { allocatable: { cpu: "1" } }));
  const groups = running.client.of(optional.PodGroup).in("default");
  return {
    ...running,
    groups,
    addGroup: async (name: string, minCount?: number, spec: Partial<schedulingV1alpha2.PodGroupSpec> = {}) =>
      void (await groups.create({
        metadata: { name },
        spec: { schedulingPolicy: minCount === undefined ? { basic: {} } : { gang: { minCount } }, ...spec },
      })),
    condition: async (name: string) =>
      (await groups.get(name)).status?.conditions?.map(({ type, status, reason, message }) =>
        [type, status, reason, message].join(" ").trim(),
      ),
    later: async (ms: number) => {
      await running.clock.advance(ms);
      await running.settle();
    },
    bound: async () => Object.values(await running.places()).filter((place) => place !== undefined).length,
  };
}

/** Takes a node of its own. */
const worker = (name: string, podGroupName = "g", more: Partial<core.PodSpec> = {}) =>
  pod(name, { requests: { cpu: "1" }, spec: { schedulingGroup: { podGroupName }, ...more } });

describe("a gang", () => {
  it("waits for its group and for enough Pods, then all of them get nodes", async () => {
    const { addGroup, addPod, settle, bound, condition, events } = await scheduler({ nodes: 3 });
    await addPod(worker("a"));
    await addPod(worker("b"));
    await settle();
    expect(await bound()).toBe(0);
    await addGroup("g", 3);
    await settle();
    expect([await bound(), await condition("g")]).toEqual([0, undefined]);
    await addPod(worker("c"));
    await settle();
    expect([await bound(), await condition("g")]).toEqual([3, ["PodGroupScheduled True Scheduled"]]);
    expect(await events("a")).toEqual([expect.stringContaining("Successfully assigned default/a to n")]);
  });

  it("that does not fit holds no node, says which Pod does not fit, and is placed whole once it does", async () => {
    const {
      addGroup,
      addPod,
      addNode,
      settle,
      bound,
      condition,
      events,
      later,
      places,
      pod: read,
    } = await scheduler({
      nodes: 2,
    });
    await addGroup("g", 3);
    for (const name of ["a", "b", "c"]) await addPod(worker(name));
    await addPod(pod("other", { requests: { cpu: "1" } }));
    await settle();
    expect(await places()).toMatchObject({ a: undefined, b: undefined, c: undefined, other: expect.any(String) });
    expect(await condition("g")).toEqual([
      expect.stringMatching(/^PodGroupScheduled False Unschedulable pod group is unschedulable, minCount \(3\)/),
    ]);
    const [message] = (await condition("g")) ?? [];
    expect(message).toMatch(/default\/c: 0\/2 nodes are available: 2 Insufficient cpu/);
    expect(await events("a")).toEqual(["FailedScheduling: waiting for minCount pods from a gang to be scheduled"]);
    expect((await read("a")).status?.conditions).toMatchObject([{ type: "PodScheduled", reason: "Unschedulable" }]);
    await addNode(node("late", { allocatable: { cpu: "2" } }));
    await later(10_000);
    expect([await bound(), await condition("g")]).toEqual([4, ["PodGroupScheduled True Scheduled"]]);
  });

  it("is placed up to what fits beyond its count, and the rest is tried like any Pod", async () => {
    const { addGroup, addPod, settle, bound, condition, events, addNode, later } = await scheduler({ nodes: 3 });
    await addGroup("g", 2);
    for (const name of ["a", "b", "c", "d"]) await addPod(worker(name));
    await settle();
    expect([await bound(), await condition("g")]).toEqual([3, ["PodGroupScheduled True Scheduled"]]);
    const failed = (await Promise.all(["a", "b", "c", "d"].map((name) => events(name)))).flat();
    expect(failed.filter((each) => each.startsWith("FailedScheduling"))).toEqual([
      expect.stringContaining("0/3 nodes are available: 3 Insufficient cpu"),
    ]);
    await addNode(node("late"));
    await later(10_000);
    expect(await bound()).toBe(4);
  });

  it("counts the Pods that it has nodes for already", async () => {
    const { addGroup, addPod, settle, bound, client } = await scheduler({ nodes: 3 });
    await addGroup("g", 3);
    for (const name of ["a", "b", "c"]) await addPod(worker(name));
    await settle();
    await client.of(kinds.Pod).in("default").delete("a", { gracePeriodSeconds: 0 });
    await settle();
    await addPod(worker("again"));
    await settle();
    expect(await bound()).toBe(3);
  });

  it("does not start without a Pod that was deleted, nor with one that has gates", async () => {
    const { addGroup, addPod, settle, bound, client } = await scheduler({ nodes: 3 });
    await addGroup("g", 3);
    await addPod(worker("a"));
    await addPod(worker("b", "g", { schedulingGates: [{ name: "example.com/quota" }] }));
    await addPod(worker("c"));
    await settle();
    expect(await bound()).toBe(0);
    await client
      .of(kinds.Pod)
      .in("default")
      .patch("b", { type: "merge", object: { spec: { schedulingGates: [] } } });
    await settle();
    expect(await bound()).toBe(3);
  });

  it("of Pods with several schedulers is refused", async () => {
    const { addGroup, addPod, settle, bound, condition } = await scheduler({ nodes: 3 });
    await addGroup("g", 2);
    await addPod(worker("a"));
    await addPod(worker("b", "g", { schedulerName: "other" }));
    await settle();
    // The other scheduler's Pod counts, but it is not here to be placed.
    expect(await bound()).toBe(0);
    expect(await condition("g")).toEqual([expect.stringContaining("minCount (2) cannot be satisfied")]);
  });

  it("gets the Pod whose binding failed placed again", async () => {
    const running = await scheduler({ nodes: 2 });
    const { addGroup, addPod, settle, bound, later, meddle } = running;
    let isDown = true;
    meddle(({ path }) => {
      if (isDown && path.includes("/pods/b/binding")) throw new Error("connection lost");
      return undefined;
    });
    await addGroup("g", 2);
    await addPod(worker("a"));
    await addPod(worker("b"));
    await settle();
    expect(await bound()).toBeLessThan(2);
    isDown = false;
    await later(30_000);
    expect(await bound()).toBe(2);
  });
});

describe("two gangs that fit only one after the other", () => {
  it("do not block each other", async () => {
    const { addGroup, addPod, settle, later, places, client } = await scheduler({ nodes: 4 });
    for (const group of ["g", "h"]) await addGroup(group, 3);
    for (let at = 0; at < 3; at++) for (const group of ["g", "h"]) await addPod(worker(`${group}${at}`, group));
    await settle();
    const placed = async () => {
      const all = Object.entries(await places()).flatMap(([name, place]) => (place === undefined ? [] : [name[0]]));
      return all.sort().join("");
    };
    const first = await placed();
    expect(["ggg", "hhh"]).toContain(first);
    for (let at = 0; at < 3; at++)
      await client.of(kinds.Pod).in("default").delete(`${first[0]}${at}`, { gracePeriodSeconds: 0 });
    await later(30_000);
    expect(await placed()).toBe(first === "ggg" ? "hhh" : "ggg");
  });
});

describe("a group without the gang policy", () => {
  it("starts with the Pods that fit", async () => {
    const { addGroup, addPod, settle, bound, condition } = await scheduler({ nodes: 2 });
    await addGroup("g");
    for (const name of ["a", "b", "c"]) await addPod(worker(name));
    await settle();
    expect([await bound(), await condition("g")]).toEqual([2, ["PodGroupScheduled True Scheduled"]]);
  });

  it("so does a gang without the gate GangScheduling, and without GenericWorkload groups do not exist", async () => {
    const without = await scheduler({ nodes: 2, gates: ["GenericWorkload"] });
    await without.addGroup("g", 3);
    for (const name of ["a", "b", "c"]) await without.addPod(worker(name));
    await without.settle();
    expect(await without.bound()).toBe(2);
    const off = await scheduler({ nodes: 2, gates: ["TopologyManagerPolicyAlphaOptions"] });
    await expect(off.addGroup("g", 3)).rejects.toThrow("could not find the requested resource");
  });
});

describe("a group with a topology constraint", () => {
  const TOPOLOGY = [...GATES, "TopologyAwareWorkloadScheduling"];
  const inRack = (rack: string, name: string, cpu = "1") => node(name, { labels: { rack }, allocatable: { cpu } });
  const oneRack = { schedulingConstraints: { topology: [{ key: "rack" }] } };

  async function racks(of: Readonly<Record<string, number>>) {
    const running = await scheduler({ gates: TOPOLOGY });
    for (const [rack, count] of Object.entries(of))
      for (let at = 0; at < count; at++) await running.addNode(inRack(rack, `${rack}${at}`));
    const where = async () =>
      [...new Set(Object.values(await running.places()).map((place) => place?.slice(0, 1) ?? "-"))].sort().join("");
    return { ...running, where };
  }

  it.each([
    { name: "goes to the rack that has room", of: { a: 2, b: 3, c: 2 }, pods: 3, want: "b" },
    { name: "waits where no rack has room, although the cluster has", of: { a: 2, b: 2 }, pods: 3, want: "-" },
    { name: "goes to the smallest rack that takes it whole", of: { a: 6, b: 3, c: 5 }, pods: 3, want: "b" },
    { name: "takes the rack where most of its Pods fit", of: { a: 2, b: 4 }, pods: 4, min: 2, want: "b" },
  ])("$name", async ({ of, pods, min = pods, want }) => {
    const { addGroup, addPod, settle, where, condition } = await racks(of as Readonly<Record<string, number>>);
    for (let at = 0; at < pods; at++) await addPod(worker(`p${at}`));
    await addGroup("g", min, oneRack);
    await settle();
    expect(await where()).toBe(want);
    if (want === "-") {
      expect(await condition("g")).toEqual([
        expect.stringContaining("0/2 placements are available, first placement status, minCount (3)"),
      ]);
    }
  });

  it("keeps later Pods in the rack where the first ones are", async () => {
    const { addGroup, addPod, settle, where, places, events, addNode, later } = await racks({ a: 2, b: 2 });
    await addGroup("g", 2, oneRack);
    await addPod(worker("p0"));
    await addPod(worker("p1"));
    await settle();
    const rack = await where();
    await addPod(worker("late"));
    await settle();
    expect(await places()).toMatchObject({ late: undefined });
    expect(await events("late")).toEqual([
      expect.stringMatching(
        /0\/4 nodes are available: 2 Insufficient cpu, 2 node\(s\) outside the topology domain rack=/,
      ),
    ]);
    await addNode(inRack(rack, `${rack}9`));
    await later(10_000);
    expect(await where()).toBe(rack);
  });

  it("is refused with more than one level", async () => {
    const { addGroup } = await scheduler({ gates: TOPOLOGY });
    const two = { schedulingConstraints: { topology: [{ key: "rack" }, { key: "zone" }] } };
    await expect(addGroup("g", 2, two)).rejects.toThrow("spec.schedulingConstraints.topology: Too many: 2");
  });
});

describe("a gang that is more important than what runs", () => {
  const AWARE = [...GATES, "WorkloadAwarePreemption"];
  const important = { priority: 100 };

  /** `running`: Pods with their group, each on a node of its own, then what waits. */
  async function crowded(nodes: number, running: readonly (readonly [string, string?])[], gates = AWARE) {
    const cluster = await scheduler({ nodes, gates });
    const groups = new Set(running.flatMap(([, group]) => (group === undefined ? [] : [group])));
    for (const group of groups) {
      const mode = gates.includes("WorkloadAwarePreemption") ? { disruptionMode: "PodGroup" as const } : {};
      await cluster.addGroup(group, 1, mode);
    }
    for (const [name, group] of running)
      await cluster.addPod(group === undefined ? pod(name, { requests: { cpu: "1" } }) : worker(name, group));
    await cluster.settle();
    expect(await cluster.bound()).toBe(running.length);
    const evicted = async () => {
      const { items } = await cluster.client.of(kinds.Pod).list();
      const left = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      const names = new Set(left.map(({ metadata }) => metadata.name));
      return running
        .flatMap(([name]) => (names.has(name) ? [] : [name]))
        .sort()
        .join();
    };
    return { ...cluster, evicted };
  }

  it("evicts no more than it needs, for all of its Pods at once, and takes their places", async () => {
    const { addGroup, addPod, settle, evicted, bound, condition, later, client, places, events } = await crowded(4, [
      ["a"],
      ["b"],
      ["c"],
      ["d"],
    ]);
    await addGroup("g", 2, important);
    for (const name of ["x", "y"]) await addPod(worker(name, "g", important));
    await settle();
    const gone = (await evicted()).split(",");
    expect(gone).toHaveLength(2);
    expect(await condition("g")).toEqual([expect.stringContaining("waiting for preemption to complete")]);
    expect(await events(gone[0] ?? "")).toContainEqual(
      expect.stringMatching(/^Preempted: Preempted by podgroup .+ on node n/),
    );
    for (const name of gone) {
      expect(await bound()).toBeLessThan(5);
      await client.of(kinds.Pod).in("default").delete(name, { gracePeriodSeconds: 0 });
      await settle();
    }
    await later(1_000);
    expect(await places()).toMatchObject({ x: expect.any(String), y: expect.any(String) });
    expect([await bound(), await condition("g")]).toEqual([4, ["PodGroupScheduled True Scheduled"]]);
  });

  it.each([
    {
      name: "evicts nobody if it would not fit even then",
      nodes: 2,
      running: [["a"], ["b"]] as const,
      min: 3,
      want: "",
    },
    {
      name: "evicts groups as a whole, and spares them while single Pods do",
      nodes: 4,
      running: [["a1", "a"], ["a2", "a"], ["s"], ["t"]] as const,
      min: 2,
      want: "s,t",
    },
    {
      name: "evicts a whole group for one of its places",
      nodes: 4,
      running: [["a1", "a"], ["a2", "a"], ["s"], ["t"]] as const,
      min: 3,
      want: /^a1,a2,[st]$/,
    },
  ])("$name", async ({ nodes, running, min, want }) => {
    const { addGroup, addPod, settle, evicted } = await crowded(nodes, running);
    await addGroup("g", min, important);
    for (let at = 0; at < min; at++) await addPod(worker(`x${at}`, "g", important));
    await settle();
    expect(await evicted()).toMatch(typeof want === "string" ? new RegExp(`^${want}$`) : want);
  });

  it("without the gate counts by the priority of its Pods, and evicts Pods one by one", async () => {
    const running = [["a1", "a"], ["a2", "a"], ["s"]] as const;
    const { addGroup, addPod, settle, evicted } = await crowded(3, running, GATES);
    await addGroup("g", 2);
    for (const name of ["x", "y"]) await addPod(worker(name, "g", important));
    await settle();
    expect((await evicted()).split(",")).toHaveLength(2);
  });

  it("a single Pod evicts the whole of a group whose Pods go together", async () => {
    const { addPod, settle, evicted } = await crowded(2, [
      ["a1", "a"],
      ["a2", "a"],
    ]);
    await addPod(pod("x", { requests: { cpu: "1" }, spec: important }));
    await settle();
    expect(await evicted()).toBe("a1,a2");
  });
});
