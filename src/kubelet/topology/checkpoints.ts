/**
 * The state files of the CPU and memory manager: cpu_manager_state and memory_manager_state, byte for byte what
 * upstream writes and reads, so that a node may change from one kubelet to the other. Pure.
 *
 * The checksum is FNV-1a over the state as Go's spew prints it; 0 is accepted, as upstream does.
 */
export class CorruptCheckpointError extends Error {
  constructor(file: string) {
    super(
      `could not restore state from checkpoint: checkpoint is corrupted, please drain this node and delete ${file} before restarting Kubelet`,
    );
    this.name = "CorruptCheckpointError";
  }
}

export interface CpuCheckpoint {
  readonly policyName: string;
  readonly defaultCpuSet: string;
  /** CPUs by Pod and container. */
  readonly entries: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface MemoryTable {
  readonly total: number;
  readonly systemReserved: number;
  readonly allocatable: number;
  readonly reserved: number;
  readonly free: number;
}

export interface NumaMemory {
  readonly numberOfAssignments: number;
  readonly memoryMap: Readonly<Record<string, MemoryTable>>;
  /** The nodes that it is used together with, itself included. */
  readonly cells: readonly number[];
}

export interface MemoryBlock {
  readonly numaAffinity: readonly number[];
  readonly type: string;
  readonly size: number;
}

export interface MemoryCheckpoint {
  readonly policyName: string;
  readonly machineState: Readonly<Record<string, NumaMemory>>;
  readonly entries: Readonly<Record<string, Readonly<Record<string, readonly MemoryBlock[]>>>>;
}

export function writeCpuCheckpoint({ policyName, defaultCpuSet, entries }: CpuCheckpoint): string {
  const state = { policyName, defaultCpuSet, entries: sorted(entries, (containers) => sorted(containers)) };
  const known = Object.keys(entries).length > 0 ? state : { policyName, defaultCpuSet };
  return JSON.stringify({ ...known, checksum: fnv32a(spewCpus(state)) });
}

/** Throws CorruptCheckpointError. */
export function readCpuCheckpoint(text: string, file: string): CpuCheckpoint {
  const { checksum = 0, ...fields } = objectIn(text, file);
  const own = fields as { policyName?: unknown; defaultCpuSet?: unknown; entries?: unknown };
  const state = {
    policyName: String(own.policyName ?? ""),
    defaultCpuSet: String(own.defaultCpuSet ?? ""),
    entries: (own.entries ?? {}) as CpuCheckpoint["entries"],
  };
  for (const containers of Object.values(state.entries))
    if (typeof containers !== "object" || containers === null) throw new CorruptCheckpointError(file);
  if (checksum !== 0 && checksum !== fnv32a(spewCpus(state))) throw new CorruptCheckpointError(file);
  return state;
}

export function writeMemoryCheckpoint({ policyName, machineState, entries }: MemoryCheckpoint): string {
  const hasEntries = Object.keys(entries).length > 0;
  const state = { policyName, machineState, entries: sorted(entries, (containers) => sorted(containers)) };
  const { entries: _, ...rest } = state;
  return JSON.stringify({ ...(hasEntries ? state : rest), checksum: fnv32a(spewMemory(state)) });
}

/** Throws CorruptCheckpointError. */
export function readMemoryCheckpoint(text: string, file: string): MemoryCheckpoint {
  const { checksum = 0, ...fields } = objectIn(text, file);
  const own = fields as Partial<MemoryCheckpoint>;
  const state: MemoryCheckpoint = {
    policyName: String(own.policyName ?? ""),
    machineState: own.machineState ?? {},
    entries: own.entries ?? {},
  };
  let spewed: string;
  try {
    spewed = spewMemory(state);
  } catch {
    throw new CorruptCheckpointError(file);
  }
  if (checksum !== 0 && checksum !== fnv32a(spewed)) throw new CorruptCheckpointError(file);
  return state;
}

function objectIn(text: string, file: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below, for both.
  }
  throw new CorruptCheckpointError(file);
}

function spewCpus({ policyName, defaultCpuSet, entries }: CpuCheckpoint): string {
  const inner = map(entries, (containers) => map(containers, (cpus) => cpus));
  return `(*state.CPUManagerCheckpoint){PolicyName:(string)${policyName} DefaultCPUSet:(string)${defaultCpuSet} Entries:(map[string]map[string]string)${inner} Checksum:(checksum.Checksum)0}`;
}

function spewMemory({ policyName, machineState, entries }: MemoryCheckpoint): string {
  const table = ({ total, systemReserved, allocatable, reserved, free }: MemoryTable) =>
    `<*>{TotalMemSize:(uint64)${total} SystemReserved:(uint64)${systemReserved} Allocatable:(uint64)${allocatable} Reserved:(uint64)${reserved} Free:(uint64)${free}}`;
  const node = ({ numberOfAssignments, memoryMap, cells }: NumaMemory) =>
    `<*>{NumberOfAssignments:(int)${numberOfAssignments} MemoryMap:(map[v1.ResourceName]*state.MemoryTable)${map(memoryMap, table)} Cells:([]int)[${cells.join(" ")}]}`;
  const block = ({ numaAffinity, type, size }: MemoryBlock) =>
    `{NUMAAffinity:([]int)[${numaAffinity.join(" ")}] Type:(v1.ResourceName)${type} Size:(uint64)${size}}`;
  const nodes = map(machineState, node, (a, b) => Number(a) - Number(b));
  const pods = map(entries, (containers) => map(containers, (blocks) => `[${blocks.map(block).join(" ")}]`));
  return `(*state.MemoryManagerCheckpoint){PolicyName:(string)${policyName} MachineState:(state.NUMANodeMap)${nodes} Entries:(state.ContainerMemoryAssignments)${pods} Checksum:(checksum.Checksum)0}`;
}

function map<T>(
  entries: Readonly<Record<string, T>>,
  shown: (value: T) => string,
  order: (a: string, b: string) => number = byBytes,
): string {
  const parts = Object.keys(entries).sort(order);
  return `map[${parts.map((key) => `${key}:${shown(entries[key] as T)}`).join(" ")}]`;
}

function sorted<T>(
  entries: Readonly<Record<string, T>>,
  change: (value: T) => T = (value) => value,
): Record<string, T> {
  return Object.fromEntries(
    Object.keys(entries)
      .sort(byBytes)
      .map((key) => [key, change(entries[key] as T)]),
  );
}

function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function fnv32a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) {
    hash ^= byte;
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return hash >>> 0;
}
