import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { podWith } from "../testing/index.ts";
import { silentConditions } from "./conditions.ts";
import { correctedLabels } from "./labels.ts";
import { isWaiting, planNode, planZones, writesOf } from "./plan.ts";
import { DEFAULT_SETTINGS as settings } from "./settings.ts";
import { correctedTaints, hasNoExecute } from "./taints.ts";
import { evictionRate, stateOf, zoneOf } from "./zones.ts";

const START = "2030-01-01T00:00:00Z";
const NOW = Date.parse(START) + 100_000;
const LATER = "2030-01-01T00:01:40Z";

interface NodeFacts {
  readonly ready?: "True" | "False" | "Unknown";
  readonly conditions?: Readonly<Record<string, string>>;
  readonly taints?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly cordoned?: boolean;
}

function node(name: string, { ready, conditions = {}, taints = [], labels = {}, cordoned }: NodeFacts = {}): core.Node {
  const all = { ...conditions, ...(ready !== undefined && { Ready: ready }) };
  return {
    metadata: { name, labels, creationTimestamp: START, resourceVersion: "7" },
    spec: {
      ...(taints.length > 0 && { taints: taints.map(taintFrom) }),
      ...(cordoned !== undefined && { unschedulable: cordoned }),
    },
    status: { conditions: Object.entries(all).map(([type, status]) => ({ type, status, lastTransitionTime: START })) },
  };
}

/** `not-ready:NoExecute` is one of Kubernetes; `example.com/x:NoSchedule` is somebody else's. */
function taintFrom(text: string): core.Taint {
  const [key = "", effect = ""] = text.split(":");
  const known = key.includes("/") ? key : `node.kubernetes.io/${key}`;
  return { key: known, effect: effect as core.Taint["effect"], timeAdded: START };
}

const shown = (taints: readonly core.Taint[] | undefined) =>
  taints?.map(({ key, effect, timeAdded }) => {
    const isNew = timeAdded === LATER ? "+" : "";
    return `${isNew}${key.replace("node.kubernetes.io/", "")}:${effect}`;
  });

describe("taints that follow from conditions", () => {
  it.each<{ name: string; given: NodeFacts; want: readonly string[] | undefined }>([
    { name: "of a node that is well", given: { ready: "True" }, want: undefined },
    { name: "of one that is not ready", given: { ready: "False" }, want: ["+not-ready:NoSchedule"] },
    { name: "of one that is silent", given: { ready: "Unknown" }, want: ["+unreachable:NoSchedule"] },
    {
      name: "of one under pressure",
      given: {
        ready: "True",
        conditions: { MemoryPressure: "True", DiskPressure: "True", PIDPressure: "True", NetworkUnavailable: "True" },
      },
      want: [
        "+memory-pressure:NoSchedule",
        "+disk-pressure:NoSchedule",
        "+pid-pressure:NoSchedule",
        "+network-unavailable:NoSchedule",
      ],
    },
    { name: "of one that is cordoned", given: { ready: "True", cordoned: true }, want: ["+unschedulable:NoSchedule"] },
    {
      name: "that have become wrong, beside others' taints",
      given: { ready: "True", taints: ["not-ready:NoSchedule", "example.com/x:NoSchedule", "unreachable:NoExecute"] },
      want: ["example.com/x:NoSchedule"],
    },
    {
      name: "one turns into the other",
      given: { ready: "Unknown", taints: ["not-ready:NoExecute", "not-ready:NoSchedule"] },
      want: ["+unreachable:NoSchedule", "+unreachable:NoExecute"],
    },
    {
      name: "that are right already",
      given: { ready: "Unknown", taints: ["unreachable:NoExecute", "unreachable:NoSchedule"] },
      want: undefined,
    },
    { name: "of a new node that has said nothing", given: { taints: ["not-ready:NoSchedule"] }, want: [] },
    { name: "that drive out, while nothing was said", given: { taints: ["not-ready:NoExecute"] }, want: undefined },
  ])("$name", ({ given, want }) => {
    expect(shown(correctedTaints(node("n", given), NOW))).toEqual(want);
  });
});

describe("labels of long ago", () => {
  it.each([
    { given: { "kubernetes.io/os": "linux" }, want: { "beta.kubernetes.io/os": "linux" } },
    {
      given: { "kubernetes.io/arch": "arm64", "beta.kubernetes.io/arch": "amd64" },
      want: { "beta.kubernetes.io/arch": "arm64" },
    },
    { given: { "kubernetes.io/os": "linux", "beta.kubernetes.io/os": "linux" }, want: undefined },
    { given: { "beta.kubernetes.io/os": "linux" }, want: undefined },
    { given: {}, want: undefined },
  ])("$given", ({ given, want }) => {
    expect(correctedLabels(node("n", { labels: given }))).toEqual(want);
  });
});

describe("conditions of a node that is silent", () => {
  it("are Unknown: those that it had, and those that it never posted", () => {
    const given = node("n", { ready: "True", conditions: { MemoryPressure: "False", NetworkUnavailable: "False" } });
    const told = silentConditions(given, NOW)?.map(({ type, status, reason = "", message = "" }) =>
      [type, status, reason, message].join(" ").trim(),
    );
    const stopped = "Unknown NodeStatusUnknown Kubelet stopped posting node status.";
    const never = "Unknown NodeStatusNeverUpdated Kubelet never posted node status.";
    expect(told).toEqual([
      `MemoryPressure ${stopped}`,
      "NetworkUnavailable False",
      `Ready ${stopped}`,
      `DiskPressure ${never}`,
      `PIDPressure ${never}`,
    ]);
  });

  it("are said once", () => {
    const conditions = silentConditions(node("n"), NOW) ?? [];
    expect(conditions.every(({ lastHeartbeatTime }) => lastHeartbeatTime === START)).toBe(true);
    expect(silentConditions({ ...node("n"), status: { conditions } }, NOW)).toBeUndefined();
  });
});

describe("the plan for a node", () => {
  const writes = (given: core.Node, silentMs: number, pods: readonly core.Pod[] = []) => {
    const plan = planNode(given, { silentMs, pods }, settings, NOW);
    return {
      steps: (plan.steps ?? []).map((step) => step.map(({ verb, object }) => `${verb} ${object.metadata.name}`)),
      again: plan.againAfterMs,
    };
  };
  const well = { ready: "True" } as const;
  it.each([
    { name: "that was heard of", given: node("n", well), silentMs: 20_000, want: { steps: [], again: 30_000 } },
    {
      name: "that was not",
      given: node("n", well),
      silentMs: 50_000,
      want: { steps: [["updateStatus n"], ["updateStatus p"]] },
    },
    { name: "that is new", given: node("n"), silentMs: 59_000, want: { steps: [], again: 1_000 } },
    {
      name: "that never came",
      given: node("n"),
      silentMs: 60_000,
      want: { steps: [["updateStatus n"], ["updateStatus p"]] },
    },
    {
      name: "whose Pods were not told",
      given: node("n", {
        ready: "Unknown",
        conditions: { MemoryPressure: "Unknown", DiskPressure: "Unknown", PIDPressure: "Unknown" },
        taints: ["unreachable:NoSchedule"],
      }),
      silentMs: 60_000,
      want: { steps: [["updateStatus p"]] },
    },
    {
      name: "that is not ready, which its Pods are told by its kubelet",
      given: node("n", { ready: "False", taints: ["not-ready:NoSchedule"] }),
      silentMs: 0,
      want: { steps: [], again: 50_000 },
    },
  ])("$name", ({ given, silentMs, want }) => {
    expect(writes(given, silentMs, [podWith("p"), podWith("q", { ready: false })])).toEqual({
      again: undefined,
      ...want,
    });
  });
});

describe("zones", () => {
  it.each([
    { ready: 0, down: 0, state: "Initial" },
    { ready: 0, down: 1, state: "FullDisruption" },
    { ready: 1, down: 2, state: "Normal" },
    { ready: 2, down: 3, state: "PartialDisruption" },
    { ready: 9, down: 11, state: "PartialDisruption" },
    { ready: 10, down: 11, state: "Normal" },
  ])("with $ready ready and $down down: $state", ({ ready, down, state }) => {
    expect(stateOf({ ready, down }, settings)).toBe(state);
  });

  it.each([
    { ready: 5, down: 1, want: 0.1 },
    { ready: 0, down: 5, want: 0.1 },
    { ready: 2, down: 8, want: 0 },
    { ready: 10, down: 40, want: 0 },
    { ready: 10, down: 41, want: 0.01 },
  ])("with $ready ready and $down down: $want nodes per second", ({ ready, down, want }) => {
    expect(evictionRate({ ready, down }, settings)).toBe(want);
  });

  it("are known by their labels", () => {
    const labels = { "topology.kubernetes.io/region": "r", "topology.kubernetes.io/zone": "z" };
    const old = { "failure-domain.beta.kubernetes.io/region": "r", "failure-domain.beta.kubernetes.io/zone": "z" };
    expect(zoneOf(node("n", { labels }))).toBe(zoneOf(node("n", { labels: old })));
    expect(zoneOf(node("n"))).toBe("");
  });

  const zoned = (zone: string, facts: NodeFacts = {}) => ({
    ...facts,
    labels: { ...facts.labels, "topology.kubernetes.io/zone": zone },
  });
  const many = (zone: string, count: number, facts: NodeFacts) =>
    Array.from({ length: count }, (_, at) => node(`${zone}${at}`, zoned(zone, facts)));
  const planned = (nodes: readonly core.Node[], allowed: Readonly<Record<string, number>> = {}) => {
    const allowedMs = new Map(Object.entries(allowed).map(([zone, ms]) => [`:\0:${zone}`, ms]));
    const { evict, spare, againAfterMs } = planZones({ nodes, allowedMs, nowMs: 50_000 }, settings);
    const names = (list: readonly core.Node[]) => list.map(({ metadata }) => metadata.name);
    return { evict: names(evict), spare: names(spare), again: againAfterMs };
  };
  const up = { ready: "True" } as const;
  const down = { ready: "Unknown" } as const;
  const driven = { ready: "Unknown", taints: ["unreachable:NoExecute"] } as const;
  it.each([
    { name: "all well", nodes: many("a", 3, up), want: { evict: [] } },
    { name: "one down", nodes: [...many("a", 3, up), ...many("b", 1, down)], want: { evict: ["b0"] } },
    {
      name: "two zones, each at its own rate",
      nodes: [...many("a", 2, up), node("a9", zoned("a", down)), ...many("b", 2, down)],
      want: { evict: ["a9", "b0"], again: 10_000 },
    },
    {
      name: "a zone that was just allowed one",
      nodes: [...many("a", 2, up), ...many("b", 2, down)],
      allowed: { b: 46_000 },
      want: { evict: [], again: 6_000 },
    },
    {
      name: "a small zone, mostly down",
      nodes: [...many("a", 3, up), node("b9", zoned("b", up)), ...many("b", 4, down)],
      want: { evict: [] },
    },
    {
      name: "everything down",
      nodes: [...many("a", 2, driven), ...many("b", 1, down)],
      want: { evict: [], spare: ["a0", "a1"] },
    },
    {
      name: "one that does not count is evicted all the same",
      nodes: [...many("a", 2, up), node("x", { ...down, labels: { "node.kubernetes.io/exclude-disruption": "" } })],
      want: { evict: ["x"] },
    },
  ])("$name", ({ nodes, allowed, want }) => {
    expect(planned(nodes, allowed)).toEqual({ spare: [], again: undefined, ...want });
  });

  it("never drive out faster than they may, nobody who is ready, and nobody while everything is down", () => {
    const facts = fc.record({ zone: fc.constantFrom("a", "b", "c"), state: fc.constantFrom(up, down, driven) });
    fc.assert(
      fc.property(fc.array(facts, { maxLength: 80 }), fc.nat(30_000), (list, sinceMs) => {
        const nodes = list.map(({ zone, state }, at) => node(`n${at}`, zoned(zone, state)));
        const allowedMs = new Map([[":\0:a", 50_000 - sinceMs]]);
        const plan = planZones({ nodes, allowedMs, nowMs: 50_000 }, settings);
        const zones = plan.evict.map(zoneOf);
        expect(new Set(zones).size).toBe(zones.length);
        if (sinceMs < 10_000) expect(zones).not.toContain(":\0:a");
        expect(plan.evict.every(isWaiting)).toBe(true);
        if (nodes.every(({ status }) => status?.conditions?.[0]?.status !== "True")) expect(plan.evict).toEqual([]);
        else expect(plan.spare).toEqual([]);
        expect(plan.spare.every(hasNoExecute)).toBe(true);
        expect(writesOf(plan, NOW).length).toBe(plan.evict.length + plan.spare.length);
      }),
    );
  });
});
