/** On which NUMA nodes a container's devices could lie: the hints for the topology manager. Pure. */
import type { TopologyHint } from "../topology/index.ts";
import type { PluginDevice } from "./known-devices.ts";

export interface HintQuestion {
  readonly needed: number;
  readonly devices: ReadonlyMap<string, PluginDevice>;
  readonly available: ReadonlySet<string>;
  readonly reusable: ReadonlySet<string>;
  readonly numaNodes: readonly number[];
}

/** Undefined: the resource has no preference. Empty: no NUMA nodes have enough devices. */
export function deviceHints(question: HintQuestion): readonly TopologyHint[] | undefined {
  const { needed, devices, available, reusable, numaNodes } = question;
  const numaOf = (id: string) => devices.get(id)?.numaNodes ?? [];
  if (![...devices.values()].some(({ numaNodes }) => numaNodes.length > 0)) return undefined;
  if (new Set([...available, ...reusable]).size < needed) return [];
  let smallest = numaNodes.length;
  const found: ReadonlySet<number>[] = [];
  for (const affinity of subsetsOf(numaNodes)) {
    const isIn = (id: string) => numaOf(id).some((node) => affinity.has(node));
    const all = [...devices.keys()].filter(isIn).length;
    if (all >= needed) smallest = Math.min(smallest, affinity.size);
    // Devices that have to be used again must lie there.
    if (![...reusable].every(isIn)) continue;
    const matching = new Set([...reusable, ...[...available].filter(isIn)]);
    if (matching.size >= needed) found.push(affinity);
  }
  return found.map((affinity) => ({ affinity, preferred: affinity.size === smallest }));
}

/** All but the empty one. */
function subsetsOf(nodes: readonly number[]): readonly ReadonlySet<number>[] {
  const count = 2 ** nodes.length;
  return Array.from({ length: count - 1 }, (_, i) => new Set(nodes.filter((_, bit) => ((i + 1) >> bit) & 1)));
}
