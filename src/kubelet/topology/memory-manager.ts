/**
 * The Static policy of the memory manager: Guaranteed Pods get memory and huge pages of as few NUMA nodes as hold them.
 *
 * 1. A node serves either containers of its own, or a group of nodes: groups never overlap.
 * 2. What the system needs is taken off each node, as reservedMemory says.
 * 3. The state is what `checkpoint` writes. One that does not fit the machine is refused.
 */
import { type core, parseQuantity, qosClassOf, scaledValue } from "#api";
import {
  type MemoryBlock,
  type MemoryTable,
  type NumaMemory,
  readMemoryCheckpoint,
  writeMemoryCheckpoint,
} from "./checkpoints.ts";
import { isSameSet } from "./cpu-set.ts";
import { containersOf, endsBeforeOthers, hasPodLevelCpus } from "./exclusive-cpus.ts";
import type { HintProvider, TopologyHint } from "./hints.ts";
import { type MachineTopology, numaNodesOf } from "./machine-topology.ts";
import { isNarrower, numaMasks } from "./numa-masks.ts";

export interface MemoryReservation {
  readonly numaNode: number;
  /** Quantities by resource: memory, hugepages-<size>. */
  readonly limits: Readonly<Record<string, string>>;
}

export interface MemoryManagerOptions {
  readonly topology: MachineTopology;
  readonly reserved: readonly MemoryReservation[];
  readonly stored?: { readonly file: string; readonly text: string } | undefined;
}

type Amounts = ReadonlyMap<string, number>;

interface Cell {
  assignments: number;
  /** Nodes that it is used together with, itself included. */
  group: readonly number[];
  readonly tables: Map<string, MemoryTable>;
}

const POLICY = "Static";

export class MemoryManager implements HintProvider {
  readonly name = "memory" as const;
  readonly #cells: Map<number, Cell>;
  readonly #nodes: readonly number[];
  readonly #entries = new Map<string, Map<string, readonly MemoryBlock[]>>();

  /** Throws Error if the stored state does not fit the machine. */
  constructor({ topology, reserved, stored }: MemoryManagerOptions) {
    this.#nodes = numaNodesOf(topology);
    this.#cells = new Map(topology.nodes.map((node) => [node.id, newCell(node, reserved)]));
    if (stored !== undefined) this.#restore(stored.text, stored.file);
  }

  /** The NUMA nodes of a container's memory; undefined: any. */
  nodesOf(podUid: string, container: string): ReadonlySet<number> | undefined {
    const blocks = this.#entries.get(podUid)?.get(container);
    return blocks === undefined ? undefined : new Set(blocks.flatMap(({ numaAffinity }) => numaAffinity));
  }

  blocksOf(podUid: string, container: string): readonly MemoryBlock[] {
    return this.#entries.get(podUid)?.get(container) ?? [];
  }

  /** What Pods may get of each node. */
  allocatable(): readonly MemoryBlock[] {
    return [...this.#cells].flatMap(([node, { tables }]) =>
      [...tables].map(([type, { allocatable }]) => ({ numaAffinity: [node], type, size: allocatable })),
    );
  }

  checkpoint(): string {
    const machineState = Object.fromEntries(
      this.#nodes.map((id): [string, NumaMemory] => {
        const cell = this.#cells.get(id);
        const memoryMap = Object.fromEntries([...(cell?.tables ?? [])].sort(([a], [b]) => (a < b ? -1 : 1)));
        return [String(id), { numberOfAssignments: cell?.assignments ?? 0, memoryMap, cells: cell?.group ?? [id] }];
      }),
    );
    const entries = Object.fromEntries([...this.#entries].map(([uid, own]) => [uid, Object.fromEntries(own)]));
    return writeMemoryCheckpoint({ policyName: POLICY, machineState, entries });
  }

  hintsForContainer(pod: core.Pod, container: core.Container): ReadonlyMap<string, readonly TopologyHint[]> {
    const requested = wanted(pod, container);
    const blocks = this.#entries.get(pod.metadata.uid ?? "")?.get(container.name);
    return blocks === undefined ? this.#hints(requested) : regenerated(requested, blocks);
  }

  hintsForPod(pod: core.Pod): ReadonlyMap<string, readonly TopologyHint[]> {
    const own = this.#entries.get(pod.metadata.uid ?? "");
    const requested = wantedByPod(pod);
    if (own === undefined) return this.#hints(requested);
    return regenerated(requested, summed([...own.values()].flat()));
  }

  allocate(pod: core.Pod, container: core.Container, hint: TopologyHint): string | undefined {
    const requested = wanted(pod, container);
    const uid = pod.metadata.uid ?? "";
    const own = this.#entries.get(uid) ?? new Map<string, readonly MemoryBlock[]>();
    if (requested.size === 0 || own.has(container.name)) return undefined;
    const chosen = this.#chosen(requested, hint, this.#reusable(pod, container));
    if (typeof chosen === "string") return chosen;
    const numaAffinity = [...chosen].sort((a, b) => a - b);
    const blocks = [...requested].map(([type, size]): MemoryBlock => ({ numaAffinity, type, size }));
    this.#giveBackReused(pod, container);
    this.#use(blocks);
    this.#entries.set(uid, own.set(container.name, blocks));
    return undefined;
  }

  release(podUid: string): void {
    const own = this.#entries.get(podUid);
    if (own === undefined) return;
    this.#entries.delete(podUid);
    for (const blocks of own.values()) this.#free(blocks);
  }

  /** The hint, or a wider one of the same preference if it does not hold the container. */
  #chosen(requested: Amounts, hint: TopologyHint, reusable: Amounts): ReadonlySet<number> | string {
    let best = hint;
    if (best.affinity === undefined) {
      const found = this.#best(this.#affinities(requested, reusable));
      if (found === undefined)
        return "[memorymanager] failed to get the default NUMA affinity, no NUMA nodes with enough memory is available";
      if (!found.preferred && hint.preferred) return "[memorymanager] failed to find the default preferred hint";
      best = found;
    }
    const start = best.affinity ?? new Set<number>();
    if (!this.#holds(start, requested, reusable)) {
      const wider = this.#affinities(requested, reusable).filter(({ affinity }) => start.isSubsetOf(affinity ?? start));
      const found = this.#best(wider);
      if (found === undefined) return "[memorymanager] failed to find NUMA nodes to extend the current topology hint";
      if (!found.preferred && best.preferred) return "[memorymanager] failed to find the extended preferred hint";
      best = found;
    }
    const affinity = best.affinity ?? new Set<number>();
    if (best.preferred && !this.#isAllowed(affinity))
      return "[memorymanager] preferred hint violates NUMA node allocation";
    return affinity;
  }

  #best(hints: readonly TopologyHint[]): TopologyHint | undefined {
    return hints.reduce<TopologyHint | undefined>((best, next) => {
      if (best === undefined || (next.preferred && !best.preferred)) return next;
      if (next.preferred !== best.preferred) return best;
      return isNarrower(next.affinity ?? new Set(), best.affinity ?? new Set()) ? next : best;
    }, undefined);
  }

  #hints(requested: Amounts): ReadonlyMap<string, readonly TopologyHint[]> {
    if (requested.size === 0) return new Map();
    const hints = this.#affinities(requested, new Map());
    return new Map([...requested.keys()].map((resource) => [resource, hints]));
  }

  /** Every set of nodes that holds all of it and may be used together. */
  #affinities(requested: Amounts, reusable: Amounts): readonly TopologyHint[] {
    let fewest = this.#nodes.length;
    const found: ReadonlySet<number>[] = [];
    for (const mask of numaMasks(this.#nodes)) {
      if (![...requested].every(([resource, size]) => this.#sum(mask, resource, "allocatable") >= size)) continue;
      fewest = Math.min(fewest, mask.size);
      if (this.#isAllowed(mask) && this.#holds(mask, requested, reusable)) found.push(mask);
    }
    return found.map((affinity) => ({ affinity, preferred: affinity.size === fewest }));
  }

  #holds(mask: ReadonlySet<number>, requested: Amounts, reusable: Amounts): boolean {
    return [...requested].every(
      ([resource, size]) => this.#sum(mask, resource, "free") + (reusable.get(resource) ?? 0) >= size,
    );
  }

  #sum(mask: ReadonlySet<number>, resource: string, what: "allocatable" | "free"): number {
    return [...mask].reduce((sum, id) => sum + (this.#cells.get(id)?.tables.get(resource)?.[what] ?? 0), 0);
  }

  /** A node alone, or exactly a group; nodes without containers are free for either. */
  #isAllowed(mask: ReadonlySet<number>): boolean {
    return [...mask].every((id) => {
      const cell = this.#cells.get(id);
      if (cell === undefined) return false;
      if (mask.size === 1) return cell.group.length <= 1;
      if (cell.assignments === 0) return true;
      return isSameSet(new Set(cell.group), mask);
    });
  }

  /** What init containers that have ended leave for this one. */
  #reusable(pod: core.Pod, container: core.Container): Amounts {
    const amounts = new Map<string, number>();
    for (const [, blocks] of this.#reused(pod, container))
      for (const { type, size } of blocks) amounts.set(type, Math.max(size, amounts.get(type) ?? 0));
    return amounts;
  }

  #reused(pod: core.Pod, container: core.Container): readonly (readonly [string, readonly MemoryBlock[]])[] {
    const own = this.#entries.get(pod.metadata.uid ?? "") ?? new Map<string, readonly MemoryBlock[]>();
    const before = (pod.spec?.initContainers ?? []).filter(
      (each) => each.name !== container.name && endsBeforeOthers(pod, each),
    );
    return before.flatMap(({ name }) => {
      const blocks = own.get(name);
      return blocks === undefined ? [] : [[name, blocks] as const];
    });
  }

  #giveBackReused(pod: core.Pod, container: core.Container): void {
    const own = this.#entries.get(pod.metadata.uid ?? "");
    for (const [name, blocks] of this.#reused(pod, container)) {
      this.#free(blocks);
      own?.set(
        name,
        blocks.map((block) => ({ ...block, size: 0 })),
      );
    }
  }

  #use(blocks: readonly MemoryBlock[]): void {
    this.#change(blocks, 1);
  }

  #free(blocks: readonly MemoryBlock[]): void {
    this.#change(blocks, -1);
  }

  /** From the first node that has some, as upstream does. */
  #change(blocks: readonly MemoryBlock[], by: 1 | -1): void {
    for (const { numaAffinity, type, size } of blocks) {
      let left = size;
      for (const id of numaAffinity) {
        const cell = this.#cells.get(id);
        const table = cell?.tables.get(type);
        if (cell === undefined || table === undefined) continue;
        const part = Math.min(left, by > 0 ? table.free : table.reserved);
        left -= part;
        cell.tables.set(type, { ...table, free: table.free - by * part, reserved: table.reserved + by * part });
        cell.assignments = Math.max(0, cell.assignments + by);
        cell.group = cell.assignments > 0 ? numaAffinity : [id];
      }
    }
  }

  #restore(text: string, file: string): void {
    const refuse = (why: string): never => {
      throw new Error(
        `[memorymanager] ${why}, please drain this node and delete the memory manager checkpoint file "${file}" before restarting Kubelet`,
      );
    };
    const { policyName, machineState, entries } = readMemoryCheckpoint(text, file);
    if (policyName !== POLICY)
      refuse(`configured policy "${POLICY}" differs from state checkpoint policy "${policyName}"`);
    if (Object.keys(machineState).length === 0 && Object.keys(entries).length === 0) return;
    for (const id of this.#nodes) {
      const [stored, cell] = [machineState[String(id)], this.#cells.get(id)];
      const isSame = [...(cell?.tables ?? [])].every(([type, { total, systemReserved, allocatable }]) => {
        const other = stored?.memoryMap[type];
        const same = other?.total === total && other.systemReserved === systemReserved;
        return same && other.allocatable === allocatable;
      });
      if (stored === undefined || !isSame || Object.keys(machineState).length !== this.#nodes.length)
        refuse("the expected machine state is different from the real one");
    }
    for (const [uid, containers] of Object.entries(entries)) {
      this.#entries.set(uid, new Map(Object.entries(containers)));
      for (const blocks of Object.values(containers)) this.#use(blocks);
    }
  }
}

function newCell(node: MachineTopology["nodes"][number], reserved: readonly MemoryReservation[]): Cell {
  const kept = (resource: string) =>
    reserved
      .filter(({ numaNode }) => numaNode === node.id)
      .reduce((sum, { limits }) => sum + bytesOf(limits[resource]), 0);
  const huge = [...node.hugePages].map(([kib, count]) => [hugePageResource(kib), kib * 1024 * count] as const);
  const hugeBytes = huge.reduce((sum, [, size]) => sum + size, 0);
  const tables = new Map<string, MemoryTable>();
  // Huge pages are taken off the memory that other processes may use.
  for (const [resource, total] of [["memory", node.memoryBytes] as const, ...huge]) {
    const systemReserved = kept(resource);
    const allocatable = Math.max(0, total - systemReserved - (resource === "memory" ? hugeBytes : 0));
    tables.set(resource, { total, systemReserved, allocatable, reserved: 0, free: allocatable });
  }
  return { assignments: 0, group: [node.id], tables };
}

/** hugepages-2Mi for 2048. */
export function hugePageResource(kib: number): string {
  const units = ["Ki", "Mi", "Gi", "Ti"];
  let [size, unit] = [kib, 0];
  while (size % 1024 === 0 && unit < units.length - 1) [size, unit] = [size / 1024, unit + 1];
  return `hugepages-${size}${units[unit]}`;
}

/** What it asks for; nothing if the Pod is not Guaranteed. */
function wanted(pod: core.Pod, { resources }: Pick<core.Container, "resources">): Amounts {
  const amounts = new Map<string, number>();
  if (qosClassOf(pod) !== "Guaranteed" || hasPodLevelCpus(pod)) return amounts;
  for (const [resource, amount] of Object.entries({ ...resources?.limits, ...resources?.requests }))
    if (resource === "memory" || resource.startsWith("hugepages-")) amounts.set(resource, bytesOf(amount));
  return new Map([...amounts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function wantedByPod(pod: core.Pod): Amounts {
  const [starting, running] = [new Map<string, number>(), new Map<string, number>()];
  for (const container of containersOf(pod))
    for (const [resource, size] of wanted(pod, container)) {
      const isFirst = endsBeforeOthers(pod, container);
      if (isFirst) starting.set(resource, Math.max(size + (running.get(resource) ?? 0), starting.get(resource) ?? 0));
      else running.set(resource, size + (running.get(resource) ?? 0));
    }
  const names = new Set([...starting.keys(), ...running.keys()]);
  return new Map([...names].map((name) => [name, Math.max(starting.get(name) ?? 0, running.get(name) ?? 0)]));
}

/** For what it has already: a kubelet that restarts admits its Pods again. */
function regenerated(requested: Amounts, blocks: readonly MemoryBlock[]): ReadonlyMap<string, readonly TopologyHint[]> {
  const hints = new Map<string, readonly TopologyHint[]>();
  for (const [resource, size] of requested) {
    const block = blocks.find(({ type }) => type === resource);
    const isSame = block?.size === size;
    hints.set(resource, isSame ? [{ affinity: new Set(block?.numaAffinity), preferred: true }] : []);
  }
  return hints;
}

function summed(blocks: readonly MemoryBlock[]): readonly MemoryBlock[] {
  const sums = new Map<string, MemoryBlock>();
  for (const block of blocks) sums.set(block.type, { ...block, size: block.size + (sums.get(block.type)?.size ?? 0) });
  return [...sums.values()];
}

function bytesOf(quantity: string | undefined): number {
  return quantity === undefined ? 0 : Number(scaledValue(parseQuantity(quantity), 0));
}
