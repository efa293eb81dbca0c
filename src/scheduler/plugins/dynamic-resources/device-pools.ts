/**
 * ResourceSlices as pools of devices, and the devices that a node can reach.
 *
 *     ResourceSlice ──► pool (newest generation, complete?, valid?) ──► reach: one node, all nodes, a node selector,
 *                                                                      or a choice for each device
 *
 * 1. Only slices of the newest generation count. A pool with fewer slices than it announces is incomplete; one with a
 *    device name twice is invalid. No device of either is allocated.
 * 2. Pools, slices and devices have a fixed order, so that equal clusters have equal allocations: pools without
 *    binding conditions first, then by driver and name; slices by name; devices as their slice lists them.
 * 3. Pools are built again only after a change of their slices.
 * 4. Without partitionable devices, nobody reaches devices that choose their nodes or take counters.
 */
import { type core, parseQuantity, type Quantity, type resource } from "#api";
import { type NodeMatcher, type SelectedNode, selectorMatcher } from "../node-selectors.ts";
import type { DeviceFeatures } from "./device-features.ts";
import { NodeChanges } from "./node-changes.ts";

export type Slice = resource.ResourceSlice;

export interface PoolDevice {
  /** `driver/pool/device`. */
  readonly id: string;
  readonly device: resource.Device;
  readonly slice: Slice;
  readonly pool: Pool;
  /** For slices whose devices choose their nodes. */
  readonly reaches: NodeMatcher | undefined;
}

export interface Pool {
  /** `driver/pool`. */
  readonly id: string;
  readonly driver: string;
  readonly name: string;
  readonly generation: number;
  readonly isIncomplete: boolean;
  readonly isInvalid: boolean;
  readonly sections: readonly Section[];
  /** Totals by `set/counter`. */
  readonly counters: ReadonlyMap<string, Quantity>;
  readonly hasBindingConditions: boolean;
}

interface Section {
  readonly slice: Slice;
  /** Undefined: the devices choose. */
  readonly reaches: NodeMatcher | undefined;
  readonly devices: readonly PoolDevice[];
}

/** A pool as one node sees it. */
export interface NodePool {
  readonly pool: Pool;
  readonly devices: readonly PoolDevice[];
}

interface PoolSlices {
  readonly slices: Map<string, Slice>;
  built: Pool | undefined;
  /** Nodes that slices name. */
  nodes: ReadonlySet<string>;
  /** Some slice is for more than one node. */
  isShared: boolean;
}

interface Cached {
  readonly labels: SelectedNode["labels"];
  readonly sharedChanges: number;
  readonly pools: readonly NodePool[];
}

type PoolFeatures = Pick<DeviceFeatures, "partitionableDevices">;

export class DevicePools {
  readonly changes: NodeChanges;
  readonly #pools = new Map<string, PoolSlices>();
  readonly #local = new Map<string, Set<string>>();
  readonly #shared = new Set<string>();
  readonly #byNode = new Map<string, Cached>();
  readonly #features: PoolFeatures;
  #sharedChanges = 0;

  constructor(features: PoolFeatures = { partitionableDevices: true }, changes = new NodeChanges()) {
    this.#features = features;
    this.changes = changes;
  }

  set(slice: Slice): void {
    this.#edit(slice, (slices) => slices.set(slice.metadata.name ?? "", slice));
  }

  delete(slice: Slice): void {
    this.#edit(slice, (slices) => slices.delete(slice.metadata.name ?? ""));
  }

  get(pool: string): Pool | undefined {
    const known = this.#pools.get(pool);
    return known && this.#built(pool, known);
  }

  /** Allocations in the pool have changed. */
  touch(pool: string): void {
    const known = this.#pools.get(pool);
    if (known !== undefined) this.#note(known);
  }

  /** The pools with a slice that the node can reach. */
  forNode(node: SelectedNode): readonly NodePool[] {
    const known = this.#byNode.get(node.name);
    if (known !== undefined && known.labels === node.labels && known.sharedChanges === this.#sharedChanges)
      return known.pools;
    const pools = [...(this.#local.get(node.name) ?? []), ...this.#shared]
      .flatMap((id) => this.get(id) ?? [])
      .flatMap((pool) => seenBy(node, pool) ?? [])
      .sort((a, b) => order(a.pool, b.pool));
    this.#byNode.set(node.name, { labels: node.labels, sharedChanges: this.#sharedChanges, pools });
    return pools;
  }

  #edit(slice: Slice, change: (slices: Map<string, Slice>) => void): void {
    const id = poolIdOf(slice.spec.driver, slice.spec.pool.name);
    const known = this.#pools.get(id) ?? { slices: new Map(), built: undefined, nodes: new Set(), isShared: false };
    this.#note(known);
    change(known.slices);
    known.built = undefined;
    const slices = [...known.slices.values()];
    this.#place(id, known, new Set(slices.flatMap(({ spec }) => spec.nodeName || [])));
    known.isShared = slices.some(({ spec }) => !spec.nodeName);
    if (known.isShared) this.#shared.add(id);
    else this.#shared.delete(id);
    if (slices.length === 0) this.#pools.delete(id);
    else this.#pools.set(id, known);
    this.#note(known);
    for (const node of known.nodes) this.#byNode.delete(node);
  }

  #place(id: string, known: PoolSlices, nodes: ReadonlySet<string>): void {
    for (const node of known.nodes) {
      const there = this.#local.get(node);
      there?.delete(id);
      if (there?.size === 0) this.#local.delete(node);
      this.#byNode.delete(node);
    }
    for (const node of nodes) {
      const there = this.#local.get(node) ?? new Set();
      this.#local.set(node, there.add(id));
    }
    known.nodes = nodes;
  }

  #note({ nodes, isShared }: PoolSlices): void {
    if (isShared) {
      this.#sharedChanges += 1;
      this.changes.noteAll();
    } else for (const node of nodes) this.changes.note(node);
  }

  #built(id: string, known: PoolSlices): Pool {
    known.built ??= poolOf(id, [...known.slices.values()], this.#features);
    return known.built;
  }
}

export function poolIdOf(driver: string, pool: string): string {
  return `${driver}/${pool}`;
}

export function deviceIdOf({ driver, pool, device }: { driver: string; pool: string; device: string }): string {
  return `${driver}/${pool}/${device}`;
}

function order(a: Pool, b: Pool): number {
  if (a.hasBindingConditions !== b.hasBindingConditions) return a.hasBindingConditions ? 1 : -1;
  return a.id < b.id ? -1 : 1;
}

function poolOf(id: string, all: readonly Slice[], features: PoolFeatures): Pool {
  const generation = Math.max(...all.map(({ spec }) => Number(spec.pool.generation)));
  const slices = all
    .filter(({ spec }) => Number(spec.pool.generation) === generation)
    .sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
  const names = slices.flatMap(({ spec }) => (spec.devices ?? []).map(({ name }) => name));
  const [first] = slices;
  const sections: Section[] = [];
  const pool: Pool = {
    id,
    driver: first?.spec.driver ?? "",
    name: first?.spec.pool.name ?? "",
    generation,
    isIncomplete: slices.length !== Number(first?.spec.pool.resourceSliceCount),
    isInvalid: new Set(names).size < names.length,
    sections,
    counters: new Map(
      slices.flatMap(({ spec }) =>
        (spec.sharedCounters ?? []).flatMap((set) =>
          Object.entries(set.counters).map(
            ([name, { value }]) => [`${set.name}/${name}`, parseQuantity(value)] as const,
          ),
        ),
      ),
    ),
    hasBindingConditions: slices.some(({ spec }) =>
      spec.devices?.some(({ bindingConditions = [] }) => bindingConditions.length > 0),
    ),
  };
  for (const slice of slices) sections.push(sectionOf(slice, pool, features));
  return pool;
}

function sectionOf(slice: Slice, pool: Pool, { partitionableDevices }: PoolFeatures): Section {
  const { spec } = slice;
  const perDevice = spec.perDeviceNodeSelection === true;
  const devices = (spec.devices ?? []).map((device) => ({
    id: `${pool.id}/${device.name}`,
    device,
    slice,
    pool,
    reaches: perDevice ? matcherOf(device) : undefined,
  }));
  if (partitionableDevices) return { slice, reaches: perDevice ? undefined : matcherOf(spec), devices };
  const whole = devices.filter(({ device: { consumesCounters = [] } }) => consumesCounters.length === 0);
  return { slice, reaches: perDevice ? () => false : matcherOf(spec), devices: whole };
}

function matcherOf({
  nodeName = "",
  allNodes,
  nodeSelector,
}: {
  readonly nodeName?: string;
  readonly allNodes?: boolean;
  readonly nodeSelector?: core.NodeSelector;
}): NodeMatcher {
  if (nodeName !== "") return ({ name }) => name === nodeName;
  if (allNodes === true) return () => true;
  return nodeSelector === undefined ? () => false : selectorMatcher(nodeSelector);
}

/** Undefined: no slice of the pool reaches the node. */
function seenBy(node: SelectedNode, pool: Pool): NodePool | undefined {
  let isSeen = false;
  const devices = pool.sections.flatMap(({ reaches, devices }) => {
    if (reaches !== undefined) {
      if (!reaches(node)) return [];
      isSeen = true;
      return devices;
    }
    const own = devices.filter((device) => device.reaches?.(node));
    isSeen ||= own.length > 0;
    return own;
  });
  return isSeen ? { pool, devices } : undefined;
}
