/**
 * The fast path against the plain rules, on random clusters that change under it: what it remembers from one decision
 * to the next must not be seen in its answers.
 */

import { describe, expect, it } from "vitest";
import type { core } from "#api";
import { type Random, seededRandom } from "#base";
import { DEFAULT_ARGUMENTS, type PluginArguments } from "./framework/index.ts";
import { ALL_PLUGINS } from "./plugins/index.ts";
import { differences } from "./testing/difference.ts";
import { FastCluster } from "./testing/fast-cluster.ts";
import {
  amountsIn,
  DEFAULT_PROFILE,
  type PlainCluster,
  plainDecision,
  randomCluster,
  requestsOf,
} from "./testing/index.ts";
import { randomVolumes } from "./testing/random-volumes.ts";

const CLUSTERS = 10_000;
/** Other tests may run beside this one. */
const TIMEOUT_MS = 300_000;
const plugins = new Set(ALL_PLUGINS.map(({ name }) => name));

describe("the fast path", { timeout: TIMEOUT_MS }, () => {
  it(`decides as the plain rules do, on ${CLUSTERS} random clusters`, () => {
    for (let seed = 0; seed < CLUSTERS; seed++) {
      const random = seededRandom(seed);
      const { cluster, pod } = randomCluster(random);
      const args = argumentsBy(random);
      const fast = new FastCluster(cluster, { args });
      compare(fast, pod, args, `seed ${seed}`);
      if (seed % 2 === 0) continue;
      change(fast, random);
      compare(fast, pod, args, `seed ${seed}, after a change`);
    }
  });

  it("decides so on volumes, too", () => {
    for (let seed = 0; seed < 1_500; seed++) {
      const random = seededRandom(3_000_000 + seed);
      const { cluster, pod } = randomVolumes(random);
      const fast = new FastCluster(cluster);
      compare(fast, pod, DEFAULT_ARGUMENTS, `seed ${seed}`);
      change(fast, random);
      compare(fast, pod, DEFAULT_ARGUMENTS, `seed ${seed}, after a change`);
    }
  });

  it("goes on deciding so while Pods come and go", () => {
    for (let seed = 0; seed < 60; seed++) {
      const random = seededRandom(1_000_000 + seed);
      const { cluster } = randomCluster(random, { nodes: 8, pods: 4 });
      const fast = new FastCluster(cluster);
      const templates = Array.from({ length: 4 }, (_, i) => templateOf(random, `t${i}`));
      for (let step = 0; step < 40; step++) {
        const pod = named(random.pick(templates), `p${step}`);
        const chosen = compare(fast, pod, DEFAULT_ARGUMENTS, `seed ${seed}, step ${step}`);
        if (chosen !== undefined) fast.setPod(placed(pod, chosen));
        if (random.next() < 0.3) change(fast, random);
      }
    }
  });

  it("lets a Pod only where it fits with and without those that are nominated there and at least as important", () => {
    for (let seed = 0; seed < 2_000; seed++) {
      const random = seededRandom(4_000_000 + seed);
      const { cluster, pod: any } = randomCluster(random, { nodes: 4, pods: 8 });
      const pod = weighing(any, 5);
      const nominated = cluster.pods.slice(0, 3).map((each) => weighing(each, random.pick([0, 5, 9])));
      const rest = { ...cluster, pods: cluster.pods.slice(3) };
      const fast = new FastCluster(rest);
      for (const each of nominated) fast.nominate(waitingAgain(each), each.spec?.nodeName ?? "");
      const { fitting } = fast.decide(pod);
      const fits = (pods: readonly core.Pod[], name: string) => {
        const plain = plainDecision(pod, { ...rest, pods }, { ...DEFAULT_PROFILE, plugins });
        return plain.feasible.includes(name) ? undefined : (plain.failures.get(name) ?? new Map());
      };
      for (const { metadata } of cluster.nodes) {
        const name = metadata.name ?? "";
        const here = nominated.filter(({ spec }) => spec?.nodeName === name && (spec?.priority ?? 0) >= 5);
        const crowded = fits([...rest.pods, ...here.map((each) => placed(waitingAgain(each), name))], name);
        const alone = fits(rest.pods, name);
        // Where the Pod wants nothing of others, and nobody who is there minds it, those that come are not asked, as by
        // the original.
        if (crowded?.size === 1 && crowded.has("InterPodAffinity") && !hasTerms(pod)) continue;
        const wanted = alone === undefined && crowded === undefined;
        expect(fitting.includes(name), `seed ${seed}, ${name}: ${JSON.stringify([...(crowded ?? alone ?? [])])}`).toBe(
          wanted,
        );
      }
    }
  });

  it("finds those who would have to go as the plain rules do", () => {
    let found = 0;
    for (let seed = 0; seed < 2_000; seed++) {
      const random = seededRandom(5_000_000 + seed);
      const { cluster, pod: any } = randomCluster(random, { nodes: 3, pods: 10 });
      const pod = weighing(any, 5);
      const pods = cluster.pods.map((each) => weighing(each, random.pick([0, 1, 2, 9])));
      const fast = new FastCluster({ ...cluster, pods });
      for (const [name, { kind }] of fast.decide(pod).rejections) {
        if (kind !== "unschedulable") continue;
        const victims = fast.victims(pod, name);
        expect(victims, `seed ${seed}, ${name}`).toEqual(plainVictims(pod, { ...cluster, pods }, name));
        if (victims !== "nobody") found += 1;
      }
    }
    expect(found).toBeGreaterThan(100);
  });

  it("never gives a node more than it has", () => {
    for (let seed = 0; seed < 200; seed++) {
      const random = seededRandom(2_000_000 + seed);
      const { cluster } = randomCluster(random, { nodes: 5, pods: 0 });
      const fast = new FastCluster({ ...cluster, pods: [] });
      const templates = Array.from({ length: 3 }, (_, i) => templateOf(random, `t${i}`));
      for (let step = 0; step < 60; step++) {
        const pod = named(random.pick(templates), `p${step}`);
        const { fitting } = fast.decide(pod);
        if (fitting.length > 0) fast.setPod(placed(pod, random.pick(fitting)));
      }
      for (const node of fast.plain().nodes) expect(overcommitted(fast, node), `seed ${seed}`).toEqual([]);
    }
  });
});

function compare(fast: FastCluster, pod: core.Pod, args: PluginArguments, where: string): string | undefined {
  const plain = plainDecision(pod, fast.plain(), { ...DEFAULT_PROFILE, args, plugins });
  const found = differences(fast.decide(pod), plain);
  if (found.length > 0) expect.fail(`${where}:\n${found.join("\n")}\n${JSON.stringify(pod.spec)}`);
  const [best] = [...plain.scores].sort(([, a], [, b]) => b.total - a.total);
  return best?.[0];
}

/** A node or a Pod comes, goes, or is another. */
function change(fast: FastCluster, random: Random): void {
  const { nodes, pods } = fast.plain();
  const fresh = randomCluster(random, { nodes: 1, pods: 1 });
  const [node] = nodes.length > 0 ? [random.pick(nodes)] : [];
  const [pod] = pods.length > 0 ? [random.pick(pods)] : [];
  const [newNode] = fresh.cluster.nodes;
  const what = random.integer(7);
  if (what === 0 && pod !== undefined) fast.removePod(pod.metadata.uid ?? "");
  else if (what === 1 && pod !== undefined) fast.setPod({ ...pod, status: { phase: "Succeeded" } });
  else if (what === 2 && pod !== undefined)
    fast.setPod({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: "2030-01-01T00:00:00Z" } });
  else if (what === 3 && node !== undefined && newNode !== undefined)
    fast.setNode({ ...newNode, metadata: { ...newNode.metadata, name: node.metadata.name ?? "" } });
  else if (what === 4 && node !== undefined && nodes.length > 1) fast.removeNode(node.metadata.name ?? "");
  else if (what === 5 && newNode !== undefined) {
    const name = `late-${random.integer(1000)}`;
    const labels = { ...newNode.metadata.labels, "kubernetes.io/hostname": name };
    fast.setNode({ ...newNode, metadata: { ...newNode.metadata, name, labels } });
  } else if (node !== undefined)
    fast.setPod(placed(named(fresh.pod, `came-${random.integer(1e6)}`), node.metadata.name ?? ""));
}

function templateOf(random: Random, name: string): core.Pod {
  return named(randomCluster(random).pod, name);
}

function named(pod: core.Pod, name: string): core.Pod {
  const { namespace = "default" } = pod.metadata;
  return { ...pod, metadata: { ...pod.metadata, name, uid: `${namespace}-${name}` } };
}

/** All who are less important go; then they stay as long as the Pod fits, the most important first. */
function plainVictims(pod: core.Pod, cluster: PlainCluster, name: string): readonly string[] | "nobody" {
  const fits = (pods: readonly core.Pod[]) =>
    plainDecision(pod, { ...cluster, pods }, { ...DEFAULT_PROFILE, plugins }).feasible.includes(name);
  const priorityOf = ({ spec }: core.Pod) => spec?.priority ?? 0;
  const lower = cluster.pods.filter(
    (each) => each.spec?.nodeName === name && !hasEnded(each) && priorityOf(each) < priorityOf(pod),
  );
  let left = cluster.pods.filter((each) => !lower.includes(each));
  if (lower.length === 0 || !fits(left)) return "nobody";
  const keyOf = ({ metadata }: core.Pod) => `${metadata.namespace}/${metadata.name}`;
  lower.sort((a, b) => priorityOf(b) - priorityOf(a) || (keyOf(a) < keyOf(b) ? -1 : 1));
  const victims: string[] = [];
  for (const each of lower) {
    if (fits([...left, each])) left = [...left, each];
    else victims.push(each.metadata.name ?? "");
  }
  return victims;
}

function hasEnded({ status }: core.Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

function hasTerms({ spec }: core.Pod): boolean {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {};
  return [podAffinity, podAntiAffinity].some(
    (each) => (each?.requiredDuringSchedulingIgnoredDuringExecution ?? []).length > 0,
  );
}

function weighing(pod: core.Pod, priority: number): core.Pod {
  return { ...pod, spec: { ...pod.spec, containers: pod.spec?.containers ?? [], priority } };
}

function waitingAgain(pod: core.Pod): core.Pod {
  const { nodeName: _, ...spec } = pod.spec ?? { containers: [] };
  const { deletionTimestamp: __, ...metadata } = pod.metadata;
  return { ...pod, metadata, spec, status: { phase: "Pending" } };
}

function placed(pod: core.Pod, node: string): core.Pod {
  return {
    ...pod,
    spec: { ...pod.spec, containers: pod.spec?.containers ?? [], nodeName: node },
    status: { phase: "Running" },
  };
}

/** Mostly as usual; now and then another strategy, other weights. */
function argumentsBy(random: Random): PluginArguments {
  if (random.next() < 0.7) return DEFAULT_ARGUMENTS;
  const type = random.pick(["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"] as const);
  const resources = [
    { name: "cpu", weight: 1 + random.integer(3) },
    { name: "memory", weight: 1 },
    { name: "example.com/gpu", weight: 5 },
  ];
  return {
    ...DEFAULT_ARGUMENTS,
    NodeResourcesFit: {
      ignoredResources: random.next() < 0.2 ? ["example.com/gpu"] : [],
      ignoredResourceGroups: [],
      scoringStrategy: {
        type,
        resources,
        requestedToCapacityRatio: {
          shape: [
            { utilization: 0, score: 0 },
            { utilization: 70, score: 10 },
            { utilization: 100, score: 3 },
          ],
        },
      },
    },
    NodeResourcesBalancedAllocation: { resources: resources.map(({ name }) => ({ name, weight: 1 })) },
    InterPodAffinity: {
      hardPodAffinityWeight: random.integer(20),
      ignorePreferredTermsOfExistingPods: random.next() < 0.3,
    },
    PodTopologySpread:
      random.next() < 0.5
        ? DEFAULT_ARGUMENTS.PodTopologySpread
        : {
            defaultingType: "List",
            defaultConstraints: [
              { topologyKey: "topology.kubernetes.io/zone", maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" },
              { topologyKey: "kubernetes.io/hostname", maxSkew: 2, whenUnsatisfiable: "ScheduleAnyway" },
            ],
          },
  };
}

function overcommitted(fast: FastCluster, node: core.Node): readonly string[] {
  const there = fast.plain().pods.filter(({ spec }) => spec?.nodeName === node.metadata.name);
  const allocatable = amountsIn(node.status?.allocatable);
  const used = new Map<string, bigint>([["pods", BigInt(there.length)]]);
  for (const pod of there)
    for (const [name, amount] of requestsOf(pod)) used.set(name, (used.get(name) ?? 0n) + amount);
  return [...used]
    .filter(([name, amount]) => amount > (allocatable.get(name) ?? 0n))
    .map(([name, amount]) => `${node.metadata.name}: ${amount} of ${name}, has ${allocatable.get(name) ?? 0n}`);
}
