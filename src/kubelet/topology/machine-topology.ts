/**
 * The CPUs and NUMA nodes of a machine, from the files of /sys.
 *
 * 1. `read` has the text of a file below /sys/devices/system; empty if there is none.
 * 2. CPUs that are offline do not count. A kernel without NUMA has one node, 0.
 */
import { type CpuSet, NO_CPUS, parseCpuSet, sortedCpus } from "./cpu-set.ts";

export interface Cpu {
  readonly id: number;
  /** Unique on the machine: the lowest CPU of the core. */
  readonly core: number;
  readonly socket: number;
  readonly numa: number;
  /** The CPUs that share a last-level cache have the same one. */
  readonly uncoreCache: number;
}

export interface NumaNode {
  readonly id: number;
  readonly memoryBytes: number;
  /** The number of pages by their size in KiB. */
  readonly hugePages: ReadonlyMap<number, number>;
  /** To each node, itself included, by its number. */
  readonly distances: ReadonlyMap<number, number>;
}

export interface MachineTopology {
  readonly cpus: ReadonlyMap<number, Cpu>;
  readonly nodes: readonly NumaNode[];
}

export type ReadSysFile = (path: string) => Promise<string>;

export async function readTopology(
  read: ReadSysFile,
  fallback: { readonly cpus: number; readonly memoryBytes: number },
): Promise<MachineTopology> {
  const list = (await read("cpu/online")).trim();
  const online = list === "" ? new Set(Array.from({ length: fallback.cpus }, (_, id) => id)) : parseCpuSet(list);
  const nodes = await readNodes(read, fallback.memoryBytes);
  const cpus = new Map<number, Cpu>();
  for (const id of sortedCpus(online)) {
    const siblings = parsed(await read(`cpu/cpu${id}/topology/thread_siblings_list`), id);
    const socket = Number((await read(`cpu/cpu${id}/topology/physical_package_id`)).trim() || 0);
    const shared = parsed(await read(`cpu/cpu${id}/cache/index3/shared_cpu_list`), undefined);
    const numa = nodes.find((node) => node.cpus.has(id))?.node.id ?? 0;
    const uncoreCache = shared.size > 0 ? Math.min(...shared) : socket;
    cpus.set(id, { id, core: Math.min(...siblings), socket: Math.max(0, socket), numa, uncoreCache });
  }
  return { cpus, nodes: nodes.map(({ node }) => node) };
}

async function readNodes(read: ReadSysFile, memoryBytes: number) {
  const listed = sortedCpus(parsed(await read("node/online"), undefined));
  const found: { readonly node: NumaNode; readonly cpus: CpuSet }[] = [];
  for (const id of listed.length === 0 ? [0] : listed) {
    const total = /MemTotal:\s+(\d+) kB/.exec(await read(`node/node${id}/meminfo`))?.[1];
    const distances = (await read(`node/node${id}/distance`)).trim().split(/\s+/).filter(Boolean).map(Number);
    const hugePages = new Map<number, number>();
    for (const size of parsedSizes(await read(`node/node${id}/hugepages`))) {
      const count = Number((await read(`node/node${id}/hugepages/hugepages-${size}kB/nr_hugepages`)).trim() || 0);
      hugePages.set(size, count);
    }
    const node = {
      id,
      memoryBytes: total === undefined ? memoryBytes : Number(total) * 1024,
      hugePages,
      distances: new Map(listed.map((other, at) => [other, distances[at] ?? (other === id ? 10 : 20)])),
    };
    found.push({ node, cpus: parsed(await read(`node/node${id}/cpulist`), undefined) });
  }
  return found;
}

/** The listing of a folder: names such as hugepages-2048kB. */
function parsedSizes(listing: string): readonly number[] {
  return [...listing.matchAll(/hugepages-(\d+)kB/g)].map(([, size]) => Number(size)).sort((a, b) => a - b);
}

function parsed(text: string, otherwise: number | undefined): CpuSet {
  const list = text.trim();
  if (list !== "") return parseCpuSet(list);
  return otherwise === undefined ? NO_CPUS : new Set([otherwise]);
}

/** CPUs that share a core, on the machine as a whole. At least 1. */
export function cpusPerCore({ cpus }: MachineTopology): number {
  const cores = new Set([...cpus.values()].map(({ core }) => core));
  return cores.size === 0 ? 1 : Math.floor(cpus.size / cores.size);
}

export function numaNodesOf({ nodes }: MachineTopology): readonly number[] {
  return nodes.map(({ id }) => id).sort((a, b) => a - b);
}
