/**
 * Random clusters with devices of every kind, while claims come and go: the plugin with what it remembers, against the
 * plain rules.
 */
import { describe, expect, it } from "vitest";
import { type core, kinds, type resource } from "#api";
import { type Random, seededRandom } from "#base";
import { claimFor, DRIVER, deviceClass, exactly, slice } from "../../testing/devices.ts";
import { FastCluster } from "../../testing/fast-cluster.ts";
import { node, pod } from "../../testing/index.ts";
import { type PlainDevices, plainAllocations } from "../../testing/plain/devices.ts";
import { chance, list } from "../../testing/random-parts.ts";
import type { PodState } from "./pod-state.ts";

const CLUSTERS = 400;
const STEPS = 8;
const NODES = ["a", "b", "c"] as const;
const KIND = "example.com/kind";

const SELECTORS: Readonly<Record<string, (device: resource.Device) => boolean>> = {
  'device.attributes["example.com"].?kind.orValue("") == "red"': (device) =>
    device.attributes?.[KIND]?.string === "red",
  'device.attributes["example.com"].?kind.orValue("") != "red"': (device) =>
    device.attributes?.[KIND]?.string !== "red",
  [`device.driver == "${DRIVER}"`]: () => true,
  "device.allowMultipleAllocations": (device) => device.allowMultipleAllocations === true,
};

describe("devices", () => {
  it(`are found as the plain rules find them, in ${CLUSTERS} random clusters`, { timeout: 120_000 }, () => {
    let fitting = 0;
    for (let seed = 0; seed < CLUSTERS; seed++) fitting += follow(seededRandom(seed), `seed ${seed}`);
    // A test in which everything or nothing fits would say little.
    expect(fitting / (CLUSTERS * STEPS * NODES.length)).toBeGreaterThan(0.2);
    expect(fitting / (CLUSTERS * STEPS * NODES.length)).toBeLessThan(0.8);
  });
});

/** The number of nodes that fitted. */
function follow(random: Random, where: string): number {
  const nodes = NODES.map((name, i) => node(name, { labels: { zone: `z${i % 2}` } }));
  const classes = [deviceClass("gpu"), deviceClass("red", [Object.keys(SELECTORS)[0] ?? ""])];
  const templates = list(random, 2, 2, (i) => randomClaim(random, `t${i}`));
  const takesAll = templates.some(({ spec }) =>
    spec.devices?.requests?.some(({ exactly }) => exactly?.allocationMode === "All"),
  );
  const slices = randomSlices(random, takesAll);
  const allocated: resource.ResourceClaim[] = [];
  const cluster = new FastCluster({ nodes, pods: [] }, { plugins: ["PrioritySort", "DynamicResources"] });
  for (const each of classes) cluster.held.set(kinds.DeviceClass, each);
  for (const each of slices) cluster.held.set(kinds.ResourceSlice, each);
  let count = 0;
  for (let step = 0; step < STEPS; step++) {
    const wanted = chance(random, 0.3) ? templates : [random.pick(templates)];
    const claims = wanted.map((claim, i) => ({
      ...claim,
      metadata: { ...claim.metadata, name: `c${step}-${i}`, uid: `uid-${step}-${i}` },
    }));
    for (const claim of claims) cluster.held.set(kinds.ResourceClaim, claim);
    const asks = pod(`p${step}`, {
      spec: {
        resourceClaims: claims.map(({ metadata }) => ({ name: metadata.name, resourceClaimName: metadata.name })),
      },
    });
    const world: PlainDevices = {
      slices,
      classes,
      claims: allocated,
      selects: (expression, device) => SELECTORS[expression]?.(device) ?? false,
    };
    const want = nodes.filter((on) => plainAllocations(claims, on, world).next().done !== true).map(nameOf);
    const found = [...cluster.decide(asks).fitting].sort();
    expect(found, `${where}, step ${step}`).toEqual(want);
    count += want.length;
    if (want.length > 0)
      take(random, cluster, asks, claims, random.pick(want), allocated, world, `${where}, step ${step}`);
    if (allocated.length > 0 && chance(random, 0.3)) release(random, cluster, allocated);
    for (const claim of claims)
      if (!allocated.some(({ metadata }) => metadata.uid === claim.metadata.uid))
        cluster.held.delete(kinds.ResourceClaim, `default/${claim.metadata.name}`);
  }
  return count;
}

/**
 * The alternatives that are taken have to be possible together, a single one has to be the preferred one, and no device
 * may be given away twice.
 */
function take(
  random: Random,
  cluster: FastCluster,
  asks: core.Pod,
  claims: readonly resource.ResourceClaim[],
  on: string,
  allocated: resource.ResourceClaim[],
  world: PlainDevices,
  where: string,
): void {
  const made = cluster.reserved(asks, on, "DynamicResources", ({ allocations }: PodState) => new Map(allocations));
  const names = claims.flatMap((claim) => [...new Set(requestsIn(made.get(claim.metadata.uid ?? "")))]);
  const labels = { zone: `z${NODES.indexOf(on as "a") % 2}` };
  const possible = [...plainAllocations(claims, node(on, { labels }), world)];
  expect(names.length === 1 ? possible.slice(0, 1) : possible, where).toContainEqual(names);
  const results = [...world.claims.map(({ status }) => status?.allocation), ...made.values()]
    .flatMap((allocation) => allocation?.devices?.results ?? [])
    .filter(({ adminAccess, shareID }) => adminAccess !== true && shareID === undefined)
    .map(({ pool, device }) => `${pool}/${device}`);
  expect(new Set(results).size, where).toBe(results.length);
  for (const claim of claims) {
    const allocation = made.get(claim.metadata.uid ?? "");
    if (allocation === undefined) throw new Error("a claim has no allocation");
    const next = { ...claim, status: { allocation } };
    if (chance(random, 0.9)) {
      allocated.push(next);
      cluster.held.set(kinds.ResourceClaim, next);
    }
  }
}

function requestsIn(allocation: resource.AllocationResult | undefined): readonly string[] {
  return (allocation?.devices?.results ?? []).map(({ request }) => request);
}

function release(random: Random, cluster: FastCluster, allocated: resource.ResourceClaim[]): void {
  const [gone] = allocated.splice(random.integer(allocated.length), 1);
  if (gone !== undefined) cluster.held.delete(kinds.ResourceClaim, `default/${gone.metadata.name}`);
}

function nameOf({ metadata }: core.Node): string {
  return metadata.name ?? "";
}

/** `whole`: a claim for all devices of an incomplete pool is an error, and not of interest here. */
function randomSlices(random: Random, whole: boolean): readonly resource.ResourceSlice[] {
  const local = NODES.flatMap((name) => {
    const parts = { on: name, generation: 1, slices: !whole && chance(random, 0.1) ? 2 : 1 };
    const own = slice(`${name}-1`, randomDevices(random, 3), parts);
    if (!chance(random, 0.15)) return [own];
    return [own, slice(`${name}-2`, randomDevices(random, 2), { on: name, generation: 2 })];
  });
  const shared = list(random, 0, 2, (i) => {
    const reach = random.integer(3);
    const zone = { key: "zone", operator: "In" as const, values: ["z0"] };
    return slice(`shared-${i}`, randomDevices(random, 2, reach === 2), {
      pool: `shared-${i}`,
      spec:
        reach === 0
          ? { allNodes: true }
          : reach === 1
            ? { nodeSelector: { nodeSelectorTerms: [{ matchExpressions: [zone] }] } }
            : { allNodes: false, perDeviceNodeSelection: true },
    });
  });
  const partitioned = chance(random, 0.5) ? [partitions(random)] : [];
  return [...local, ...shared, ...partitioned.flat()];
}

function partitions(random: Random): readonly resource.ResourceSlice[] {
  const parts = list(random, 2, 3, (i) => ({
    ...randomDevice(random, `part-${i}`),
    consumesCounters: [{ counterSet: "card", counters: { memory: { value: random.pick(["1", "2", "3"]) } } }],
  }));
  const on = random.pick(NODES);
  return [
    slice("parts", parts, { on, pool: "card", slices: 2 }),
    slice("counters", [], {
      on,
      pool: "card",
      slices: 2,
      spec: { sharedCounters: [{ name: "card", counters: { memory: { value: "4" } } }] },
    }),
  ];
}

function randomDevices(random: Random, most: number, chooses = false): readonly resource.Device[] {
  return list(random, 1, most, (i) => ({
    ...randomDevice(random, `gpu-${i}`),
    ...(chooses && (chance(random, 0.5) ? { nodeName: random.pick(NODES) } : { allNodes: true })),
  }));
}

function randomDevice(random: Random, name: string): resource.Device {
  const isShared = chance(random, 0.2);
  return {
    name,
    ...(chance(random, 0.8) && { attributes: { [KIND]: { string: random.pick(["red", "blue"]) } } }),
    ...((isShared || chance(random, 0.2)) && { capacity: { memory: { value: random.pick(["2", "4"]) } } }),
    ...(isShared && { allowMultipleAllocations: true }),
    ...(chance(random, 0.1) && { taints: [{ key: "hot", value: "yes", effect: random.pick(["NoSchedule", "None"]) }] }),
  };
}

function randomClaim(random: Random, name: string): resource.ResourceClaim {
  const all = chance(random, 0.15);
  const requests = list(random, 1, 2, (i) => randomRequest(random, `r${i}`, all && i === 0));
  const constraint = chance(random, 0.5) ? { matchAttribute: KIND } : { distinctAttribute: KIND };
  const isConstrained = !all && chance(random, 0.25);
  return claimFor(name, requests, isConstrained ? { constraints: [constraint] } : {});
}

function randomRequest(random: Random, name: string, all: boolean): resource.DeviceRequest {
  const where = chance(random, 0.4) ? [random.pick(Object.keys(SELECTORS))] : [];
  const deviceClassName = chance(random, 0.2) ? "red" : "gpu";
  const asked = {
    where,
    deviceClassName,
    count: 1 + random.integer(2),
    ...(chance(random, 0.2) && { tolerations: [{ key: "hot", operator: "Exists" as const }] }),
    ...(chance(random, 0.2) && { capacity: { requests: { memory: random.pick(["1", "2", "3"]) } } }),
  };
  if (all) return exactly(name, { ...asked, count: undefined as unknown as number, allocationMode: "All" });
  if (chance(random, 0.75)) return exactly(name, { ...asked, ...(chance(random, 0.1) && { adminAccess: true }) });
  const other = exactly(name, { ...asked, where: [], count: 1 });
  const [first, second] = [exactly(name, asked), other].map((each, i) => {
    const { adminAccess: _, ...sub } = each.exactly ?? { deviceClassName };
    return { name: `o${i}`, ...sub };
  });
  return { name, firstAvailable: [first, second].filter((each) => each !== undefined) };
}
