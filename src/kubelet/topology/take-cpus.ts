/**
 * Which CPUs a container gets out of those that are free. Pure.
 *
 * Packed: whole NUMA nodes and sockets, then whole last-level caches if asked for, then whole cores, then single ones;
 * each time from where the fewest are free, so that large groups stay whole.
 * Distributed: as many CPUs on each of the fewest NUMA nodes that suffice; what is left of them is as even as can be.
 */

import { type CpuSet, NO_CPUS, sortedCpus } from "./cpu-set.ts";
import { FreeCpus, type Level } from "./free-cpus.ts";
import type { MachineTopology } from "./machine-topology.ts";
import { combinations } from "./numa-masks.ts";

export interface TakeOptions {
  /** Fill last-level caches before cores. */
  readonly preferUncoreCache?: boolean | undefined;
  /** Spread over cores instead of filling them. */
  readonly spreadCores?: boolean | undefined;
}

export class NotEnoughCpusError extends Error {
  constructor(requested: number, available: number) {
    super(`not enough cpus available to satisfy request: requested=${requested}, available=${available}`);
    this.name = "NotEnoughCpusError";
  }
}

export function takePacked(
  topology: MachineTopology,
  available: CpuSet,
  count: number,
  options: TakeOptions = {},
): CpuSet {
  if (count < 1) return NO_CPUS;
  const free = new FreeCpus(topology, available, count);
  if (free.size < count) throw new NotEnoughCpusError(count, free.size);
  const [outer, inner] = levelsOf(topology);
  takeWhole(free, outer);
  takeWhole(free, inner);
  if (options.preferUncoreCache === true) takeUncoreCaches(free);
  if (options.spreadCores !== true) takeWholeCores(free, outer, inner);
  const rest = options.spreadCores === true ? spread(free) : sortedSingles(free, outer, inner);
  free.take(rest.slice(0, Math.max(0, free.needed)));
  return free.taken;
}

/** From the outside in: NUMA nodes hold sockets, or sockets hold NUMA nodes. */
function levelsOf({ cpus, nodes }: MachineTopology): readonly [Level, Level] {
  const sockets = new Set([...cpus.values()].map(({ socket }) => socket)).size;
  return sockets >= nodes.length ? ["numa", "socket"] : ["socket", "numa"];
}

function takeWhole(free: FreeCpus, level: Level): void {
  for (const id of free.groups(level)) {
    if (!free.isWhole(level, id) || free.total(level, id) > free.needed) continue;
    free.take(free.free(level, id).map((cpu) => cpu.id));
  }
}

function takeWholeCores(free: FreeCpus, outer: Level, inner: Level): void {
  for (const core of sortedCores(free, outer, inner)) {
    if (!free.isWhole("core", core) || free.total("core", core) > free.needed) continue;
    free.take(free.free("core", core).map(({ id }) => id));
  }
}

/** Whole caches, and then a part of one that has all of what is still needed. */
function takeUncoreCaches(free: FreeCpus): void {
  takeWhole(free, "uncoreCache");
  for (const cache of free.groups("uncoreCache")) {
    if (free.needed < 1) return;
    const inside = free.free("uncoreCache", cache);
    const cores = Math.ceil(free.needed / free.cpusPerCore);
    const whole = [...new Set(inside.map(({ core }) => core))].filter((core) => free.isWhole("core", core));
    const some = whole.slice(0, cores).flatMap((core) => free.free("core", core).map(({ id }) => id));
    if (some.length >= free.needed) free.take(some.slice(0, free.needed));
  }
}

function sortedCores(free: FreeCpus, outer: Level, inner: Level): readonly number[] {
  return free.groups(outer).flatMap((first) =>
    free.groups(inner, free.free(outer, first)).flatMap((second) => {
      const inside = free.free(outer, first).filter((cpu) => cpu[inner] === second);
      return free.groups("core", inside);
    }),
  );
}

/** CPUs of cores that are partly taken come first. */
function sortedSingles(free: FreeCpus, outer: Level, inner: Level): readonly number[] {
  return sortedCores(free, outer, inner).flatMap((core) => free.free("core", core).map(({ id }) => id));
}

/** One CPU of each core, then the second ones, … */
function spread(free: FreeCpus): readonly number[] {
  const cores = free.groups("core").map((core) => free.free("core", core).map(({ id }) => id));
  const deepest = Math.max(0, ...cores.map(({ length }) => length));
  return Array.from({ length: deepest }, (_, at) => cores.flatMap((ids) => ids[at] ?? [])).flat();
}

export function takeDistributed(
  topology: MachineTopology,
  available: CpuSet,
  count: number,
  groupSize: number,
  options: TakeOptions = {},
): CpuSet {
  if (count < 1) return NO_CPUS;
  const free = new FreeCpus(topology, available, count);
  if (free.size < count) throw new NotEnoughCpusError(count, free.size);
  const nodes = free.groups("numa");
  const largest = Math.max(...topology.nodes.map(({ id }) => free.total("numa", id)));
  const groups = Math.ceil(count / groupSize);
  const fewest = Math.max(1, Math.ceil(groups / Math.max(1, Math.floor(largest / groupSize))));
  for (let size = fewest; size <= Math.min(groups, nodes.length); size += 1) {
    const best = mostEven(free, nodes, size, count, groupSize);
    if (best === undefined) continue;
    return take(topology, free, best, count, groupSize, options);
  }
  return takePacked(topology, available, count, options);
}

interface Split {
  readonly nodes: readonly number[];
  /** On each of the nodes. */
  readonly each: number;
  /** Nodes that give a group of CPUs more. */
  readonly more: readonly number[];
  readonly deviation: number;
}

/** Of the choices of so many nodes the one that leaves the most even number of free CPUs on all nodes. */
function mostEven(free: FreeCpus, nodes: readonly number[], size: number, count: number, groupSize: number) {
  let best: Split | undefined;
  const freeOn = new Map(nodes.map((node) => [node, free.free("numa", node).length]));
  const each = Math.floor(count / size / groupSize) * groupSize;
  const remainder = count - each * size;
  const extra = Math.ceil(remainder / groupSize);
  for (const chosen of combinations(nodes, size)) {
    if (chosen.some((node) => (freeOn.get(node) ?? 0) < each)) continue;
    for (const more of combinations(chosen, Math.min(extra, size))) {
      if (more.some((node) => (freeOn.get(node) ?? 0) < each + Math.min(groupSize, remainder))) continue;
      const left = nodes.map((node) => {
        const given = chosen.includes(node) ? each + (more.includes(node) ? groupSize : 0) : 0;
        return (freeOn.get(node) ?? 0) - given;
      });
      const deviation = standardDeviation(left);
      if (best === undefined || deviation < best.deviation) best = { nodes: chosen, each, more, deviation };
    }
  }
  return best;
}

function take(
  topology: MachineTopology,
  free: FreeCpus,
  { nodes, each, more }: Split,
  count: number,
  groupSize: number,
  options: TakeOptions,
): CpuSet {
  const on = (node: number) => new Set(free.free("numa", node).map(({ id }) => id));
  for (const node of nodes) free.take(takePacked(topology, on(node), each, options));
  for (const node of more)
    if (free.needed > 0) free.take(takePacked(topology, on(node), Math.min(groupSize, free.needed), options));
  if (free.taken.size === count) return free.taken;
  const rest = new Set(free.free().map(({ id }) => id));
  free.take(takePacked(topology, rest, free.needed, options));
  return new Set(sortedCpus(free.taken));
}

function standardDeviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}
