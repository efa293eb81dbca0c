/** Machines that do not exist, for tests. */
import type { Cpu, MachineTopology, NumaNode } from "../machine-topology.ts";

export interface Shape {
  readonly sockets: number;
  readonly numaPerSocket?: number;
  readonly coresPerNuma: number;
  /** CPUs of a core; the siblings of core n are n and n + all cores, as Linux numbers them. */
  readonly threads?: number;
  readonly uncorePerNuma?: number;
  readonly memoryPerNuma?: number;
  readonly hugePages?: ReadonlyMap<number, number>;
}

const GIB = 1024 ** 3;

export function machineOf(shape: Shape): MachineTopology {
  const { sockets, numaPerSocket = 1, coresPerNuma, threads = 1, uncorePerNuma = 1, hugePages = new Map() } = shape;
  const nodeCount = sockets * numaPerSocket;
  const cores = nodeCount * coresPerNuma;
  const cpus = new Map<number, Cpu>();
  for (let thread = 0; thread < threads; thread += 1)
    for (let core = 0; core < cores; core += 1) {
      const numa = Math.floor(core / coresPerNuma);
      const uncoreCache = Math.floor((core * uncorePerNuma) / coresPerNuma);
      const id = thread * cores + core;
      cpus.set(id, { id, core, socket: Math.floor(numa / numaPerSocket), numa, uncoreCache });
    }
  const ids = Array.from({ length: nodeCount }, (_, id) => id);
  const nodes = ids.map(
    (id): NumaNode => ({
      id,
      memoryBytes: shape.memoryPerNuma ?? 8 * GIB,
      hugePages,
      distances: new Map(ids.map((other) => [other, other === id ? 10 : 10 + 10 * Math.abs(other - id)])),
    }),
  );
  return { cpus, nodes };
}
