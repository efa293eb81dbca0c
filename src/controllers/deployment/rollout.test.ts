/** The limits of a rollout hold at every step, whatever Pods and controllers do in between. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type apps, type core, kinds } from "#api";
import { replicaSetController } from "../replica-set/index.ts";
import { reportPods, testControllers } from "../testing/index.ts";
import { deploymentController } from "./index.ts";
import { type Limits, limitsOf } from "./limits.ts";
import { rollingStep } from "./rolling.ts";
import { isScaled, scaledSizes } from "./scale.ts";

describe("the limits of a rollout", () => {
  it.each([
    { replicas: 10, maxSurge: "25%", maxUnavailable: "25%", want: [3, 2] },
    { replicas: 1, maxSurge: "25%", maxUnavailable: "25%", want: [1, 0] },
    { replicas: 3, maxSurge: 0, maxUnavailable: "10%", want: [0, 1] },
    { replicas: 3, maxSurge: "0%", maxUnavailable: 5, want: [0, 3] },
    { replicas: 0, maxSurge: 1, maxUnavailable: 1, want: [1, 0] },
  ])("$replicas, $maxSurge more, $maxUnavailable fewer", ({ replicas, maxSurge, maxUnavailable, want }) => {
    const { maxSurge: surge, maxUnavailable: missing } = limitsOf(
      deployment(replicas, { rollingUpdate: { maxSurge, maxUnavailable } }),
    );
    expect([surge, missing]).toEqual(want);
  });

  it("are none where Pods are recreated", () => {
    expect(limitsOf(deployment(5, { type: "Recreate" }))).toEqual({ replicas: 5, maxSurge: 0, maxUnavailable: 0 });
  });
});

function deployment(replicas: number, strategy: apps.DeploymentStrategy): apps.Deployment {
  return {
    metadata: { name: "web", namespace: "default" },
    spec: { replicas, strategy, selector: { matchLabels: { app: "web" } }, template: template("web:1") },
  };
}

function template(image: string): core.PodTemplateSpec {
  return {
    metadata: { labels: { app: "web" } },
    spec: { terminationGracePeriodSeconds: 0, containers: [{ name: "c", image }] },
  };
}

/** A ReplicaSet and its Pods as they are; its status is what its controller said when it last looked. */
interface ModelSet {
  size: number;
  available: boolean[];
  said: { replicas: number; available: number };
}

const setOf = ({ size, said }: ModelSet, at: number): apps.ReplicaSet => ({
  metadata: { name: `set-${at}`, creationTimestamp: `2030-01-0${at + 1}T00:00:00Z` },
  spec: { replicas: size, selector: {} },
  status: { replicas: said.replicas, availableReplicas: said.available },
});
const availableIn = (sets: readonly ModelSet[]) => sets.flatMap(({ available }) => available).filter(Boolean).length;
const podsIn = (sets: readonly ModelSet[]) => sets.flatMap(({ available }) => available).length;
const look = (set: ModelSet) => {
  set.said = { replicas: set.available.length, available: set.available.filter(Boolean).length };
};

/** What the ReplicaSet's controller does: Pods that are not available go first. */
function replicate(set: ModelSet) {
  set.available.sort((a, b) => Number(b) - Number(a));
  set.available = [
    ...set.available.slice(0, set.size),
    ...Array.from({ length: Math.max(0, set.size - set.available.length) }, () => false),
  ];
  look(set);
}

function change({ available }: ModelSet, from: boolean) {
  const at = available.indexOf(from);
  if (at !== -1) available[at] = !from;
}

/**
 * Nobody can know of a Pod that fails while others are on their way out: so it fails only when none are, and that is
 * told at once.
 */
function failKnown(set: ModelSet, sets: readonly ModelSet[]) {
  if (sets.some(({ size, available }) => available.length > size)) return;
  change(set, true);
  for (const each of sets) look(each);
}

/** Nor of one that gets well again after it was given up. */
function recover(set: ModelSet) {
  if (set.available.length > set.size) return;
  change(set, false);
  look(set);
}

type Does = "roll" | "replicate" | "becomeReady" | "fail";

function roll(limits: Limits, sets: readonly ModelSet[]) {
  const objects = sets.map(setOf);
  const [newest] = objects.slice(-1);
  if (newest === undefined) return;
  for (const [name, size] of rollingStep(limits, newest, objects.slice(0, -1))) {
    const set = sets[Number(name.slice("set-".length))];
    if (set !== undefined) set.size = size;
  }
}

describe("a rolling update", () => {
  const limits = fc
    .record({ replicas: fc.integer({ min: 1, max: 30 }), maxSurge: fc.nat(12), maxUnavailable: fc.nat(12) })
    .map(({ replicas, maxSurge, maxUnavailable }) =>
      limitsOf(deployment(replicas, { rollingUpdate: { maxSurge, maxUnavailable } })),
    );
  const action = fc.record({
    does: fc.constantFrom<Does>("roll", "replicate", "becomeReady", "fail"),
    set: fc.nat(2),
  });

  it("stays within the limits under any order of events, and arrives", () => {
    fc.assert(
      fc.property(limits, fc.array(action, { maxLength: 120 }), fc.nat(30), (limits, actions, atFirst) => {
        const { replicas, maxSurge, maxUnavailable } = limits;
        const older = Math.min(atFirst, replicas);
        const sets: ModelSet[] = [older, replicas - older, 0].map((size) => ({
          size,
          available: Array.from({ length: size }, () => true),
          said: { replicas: size, available: size },
        }));
        const act = (does: Does, set: ModelSet | undefined) => {
          if (set === undefined) return;
          const before = availableIn(sets);
          if (does === "roll") roll(limits, sets);
          if (does === "replicate") replicate(set);
          if (does === "becomeReady") recover(set);
          if (does === "fail") return failKnown(set, sets);
          // Not by expect, which is slow: this runs very often.
          if (podsIn(sets) > replicas + maxSurge) throw new Error(`too many Pods: ${JSON.stringify(sets)}`);
          if (availableIn(sets) < Math.min(before, replicas - maxUnavailable))
            throw new Error(`too few available: ${JSON.stringify(sets)}`);
        };
        for (const { does, set } of actions) act(does, sets[set]);
        for (let round = 0; round < 4 * replicas + 8; round++) {
          act("roll", sets[0]);
          for (const set of sets) act("replicate", set);
          for (const set of sets) for (const _ of set.available) act("becomeReady", set);
          for (const set of sets) look(set);
        }
        expect(sets.map(({ size }) => size)).toEqual([0, 0, replicas]);
      }),
      { numRuns: 200 },
    );
  });

  it("of 200 replicas keeps the limits over the whole history of their Pods", async () => {
    const cluster = await testControllers([deploymentController, replicaSetController], { seed: 3 });
    const { client, clock, settle, random } = cluster;
    const watching = new AbortController();
    try {
      await client.of(kinds.Namespace).create({ metadata: { name: "default" } });
      const history: { type: string; pod: core.Pod }[] = [];
      const { metadata } = await client.of(kinds.Pod).list();
      const watched = (async () => {
        const resourceVersion = metadata?.resourceVersion ?? "";
        for await (const event of client.of(kinds.Pod).watch({ resourceVersion, signal: watching.signal }))
          if (event.type !== "BOOKMARK") history.push({ type: event.type, pod: event.object });
      })();
      const deployments = client.of(kinds.Deployment).in("default");
      await deployments.create(deployment(200, {}));
      await settle();
      await reportPods(client, clock.now());
      await settle();
      const begun = history.length;
      const next = { spec: { template: { spec: { containers: [{ name: "c", image: "web:2" }] } } } };
      await deployments.patch("web", { type: "merge", object: next });
      await settle();
      for (let round = 0; round < 200; round++) {
        await reportPods(client, clock.now(), {}, ({ status }) => status?.phase !== "Running" && random.next() < 0.4);
        await settle();
        if ((await deployments.get("web")).status?.conditions?.[1]?.reason === "NewReplicaSetAvailable") break;
      }
      watching.abort();
      await watched;

      const pods = new Map<string, core.Pod>();
      const counts = history.map(({ type, pod }) => {
        const ends = type === "DELETED" || pod.metadata.deletionTimestamp !== undefined;
        if (ends) pods.delete(pod.metadata.name ?? "");
        else pods.set(pod.metadata.name ?? "", pod);
        const ready = [...pods.values()].filter(({ status }) =>
          status?.conditions?.some((each) => each.type === "Ready" && each.status === "True"),
        );
        return { all: pods.size, ready: ready.length };
      });
      expect(Math.max(...counts.map(({ all }) => all))).toBeLessThanOrEqual(250);
      expect(Math.min(...counts.slice(begun).map(({ ready }) => ready))).toBeGreaterThanOrEqual(150);
      expect(counts.at(-1)).toEqual({ all: 200, ready: 200 });
      expect([...pods.values()].every(({ spec }) => spec?.containers[0]?.image === "web:2")).toBe(true);
      const sets = (await client.of(kinds.ReplicaSet).list()).items.map(({ spec }) => spec?.replicas ?? 0);
      expect(sets.toSorted((a, b) => a - b)).toEqual([0, 200]);
    } finally {
      watching.abort();
      await cluster.close();
    }
  });
});

describe("scaling while a rollout is under way", () => {
  const sized = (name: string, replicas: number, desired: number, max: number): apps.ReplicaSet => ({
    metadata: {
      name,
      creationTimestamp: `2030-01-01T00:00:0${name.length}Z`,
      annotations: {
        "deployment.kubernetes.io/desired-replicas": String(desired),
        "deployment.kubernetes.io/max-replicas": String(max),
      },
    },
    spec: { replicas, selector: {} },
  });
  const rolling = { rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } };

  it.each([
    { name: "up, each its share", to: 15, sets: [8, 5], want: [11, 7] },
    { name: "down, each its share", to: 5, sets: [8, 5], want: [5, 3] },
    { name: "to nothing", to: 0, sets: [8, 5], want: [0, 0] },
    { name: "equals: what grows is the newer", to: 11, sets: [6, 7], want: [6, 8] },
    { name: "one alone gets all", to: 12, sets: [10, 0], want: [12, 0] },
    { name: "the newest, where none has any", to: 12, sets: [0, 0], want: [0, 12] },
  ])("$name", ({ to, sets: [old = 0, fresh = 0], want }) => {
    const generations = { new: sized("bb", fresh, 10, 13), old: [sized("a", old, 10, 13)] };
    const scaled = deployment(to, rolling);
    if (old > 0) expect(isScaled(scaled, [generations.new, ...generations.old])).toBe(true);
    const sizes = scaledSizes(scaled, generations);
    expect([sizes.get("a") ?? old, sizes.get("bb") ?? fresh]).toEqual(want);
  });

  it("never gives more than the surge allows, nor less than nothing", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(40), { minLength: 2, maxLength: 5 }), fc.nat(60), (sizes, to) => {
        const from = sizes.reduce((sum, size) => sum + size, 1);
        const sets = sizes.map((size, at) => sized("x".repeat(at + 1), size, from, from + 3));
        const [newest, ...old] = sets;
        const scaled = scaledSizes(deployment(to, rolling), { new: newest, old });
        const after = sets.map(({ metadata, spec }) => scaled.get(metadata.name ?? "") ?? spec?.replicas ?? 0);
        for (const size of after) expect(size).toBeGreaterThanOrEqual(0);
        if (sizes.filter((size) => size > 0).length > 1)
          expect(after.reduce((sum, size) => sum + size, 0)).toBe(to === 0 ? 0 : to + 3);
      }),
    );
  });
});
