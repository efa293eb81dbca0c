/**
 * The static policy of the CPU manager: containers of Guaranteed Pods that ask for whole CPUs get them for themselves.
 *
 *     all CPUs = reserved + free + exclusive; what is not exclusive is shared by all other containers
 *
 * 1. Reserved CPUs are never exclusive; with `strict-cpu-reservation` they are not shared either.
 * 2. What an init container had is given to the containers after it.
 * 3. The state is what `checkpoint` writes. One that does not fit the machine is refused: containers run on its CPUs.
 */
import type { core } from "#api";
import { type CpuCheckpoint, readCpuCheckpoint, writeCpuCheckpoint } from "./checkpoints.ts";
import type { CpuOptions } from "./cpu-options.ts";
import { type CpuSet, cpuSetText, isSameSet, NO_CPUS, parseCpuSet } from "./cpu-set.ts";
import { containersOf, endsBeforeOthers, exclusiveCpus, exclusiveCpusOfPod } from "./exclusive-cpus.ts";
import type { HintProvider, TopologyHint } from "./hints.ts";
import { cpusPerCore, type MachineTopology, numaNodesOf } from "./machine-topology.ts";
import { numaMasks } from "./numa-masks.ts";
import { takeDistributed, takePacked } from "./take-cpus.ts";

export interface CpuManagerOptions {
  readonly topology: MachineTopology;
  /** How many CPUs are reserved for the system, or which. */
  readonly reserved: number | CpuSet;
  readonly options: CpuOptions;
  /** The file and what it holds, if it exists. */
  readonly stored?: { readonly file: string; readonly text: string } | undefined;
}

const POLICY = "static";
/** A failure of its own reason, not an unexpected one. */
export const SMT_ALIGNMENT = "SMT Alignment Error:";

export class CpuManager implements HintProvider {
  readonly name = "cpu" as const;
  readonly topology: MachineTopology;
  readonly #options: CpuOptions;
  readonly #reserved: CpuSet;
  readonly #entries = new Map<string, Map<string, CpuSet>>();
  /** By Pod: CPUs of init containers, for the containers after them. */
  readonly #reusable = new Map<string, CpuSet>();
  #shared: CpuSet;

  /** Throws Error if the reserved CPUs or the stored state do not fit the machine. */
  constructor({ topology, reserved, options, stored }: CpuManagerOptions) {
    this.topology = topology;
    this.#options = options;
    this.#reserved = typeof reserved === "number" ? this.#take(this.#all(), reserved) : reserved;
    if (!this.#reserved.isSubsetOf(this.#all()))
      throw new Error(
        `[cpumanager] unable to reserve the required amount of CPUs (size of ${cpuSetText(this.#reserved)} did not equal ${this.#reserved.size})`,
      );
    this.#shared = options.strictReservation ? this.#all().difference(this.#reserved) : this.#all();
    if (stored !== undefined) this.#restore(readCpuCheckpoint(stored.text, stored.file), stored.file);
  }

  /** CPUs of containers that have none for themselves. */
  get shared(): CpuSet {
    return this.#shared;
  }

  /** CPUs that may be exclusive. */
  get allocatable(): CpuSet {
    return this.#all().difference(this.#reserved);
  }

  get exclusive(): ReadonlyMap<string, ReadonlyMap<string, CpuSet>> {
    return this.#entries;
  }

  /** Undefined: it shares. */
  cpusOf(podUid: string, container: string): CpuSet | undefined {
    return this.#entries.get(podUid)?.get(container);
  }

  checkpoint(): string {
    const entries = Object.fromEntries(
      [...this.#entries].map(([uid, containers]) => [
        uid,
        Object.fromEntries([...containers].map(([name, cpus]) => [name, cpuSetText(cpus)])),
      ]),
    );
    return writeCpuCheckpoint({ policyName: POLICY, defaultCpuSet: cpuSetText(this.#shared), entries });
  }

  hintsForContainer(pod: core.Pod, container: core.Container): ReadonlyMap<string, readonly TopologyHint[]> {
    const requested = exclusiveCpus(pod, container);
    if (requested === 0) return new Map();
    const uid = pod.metadata.uid ?? "";
    const given = this.cpusOf(uid, container.name);
    if (given !== undefined)
      return new Map([["cpu", given.size === requested ? this.#hints(given, NO_CPUS, requested) : []]]);
    return new Map([["cpu", this.#hints(this.#available(), this.#reusable.get(uid) ?? NO_CPUS, requested)]]);
  }

  hintsForPod(pod: core.Pod): ReadonlyMap<string, readonly TopologyHint[]> {
    const requested = exclusiveCpusOfPod(pod);
    if (requested === 0) return new Map();
    const uid = pod.metadata.uid ?? "";
    let assigned = NO_CPUS;
    for (const container of containersOf(pod)) {
      const given = this.cpusOf(uid, container.name);
      if (given === undefined) continue;
      if (given.size !== exclusiveCpus(pod, container)) return new Map([["cpu", []]]);
      assigned = assigned.union(given);
    }
    if (assigned.size === requested) return new Map([["cpu", this.#hints(assigned, NO_CPUS, requested)]]);
    const reusable = (this.#reusable.get(uid) ?? NO_CPUS).union(assigned);
    return new Map([["cpu", this.#hints(this.#available(), reusable, requested)]]);
  }

  allocate(pod: core.Pod, container: core.Container, affinity: TopologyHint): string | undefined {
    const requested = exclusiveCpus(pod, container);
    if (requested === 0) return undefined;
    const uid = pod.metadata.uid ?? "";
    const known = this.cpusOf(uid, container.name);
    if (known !== undefined) {
      this.#remember(pod, container, known);
      return undefined;
    }
    const misfit = this.#options.fullPhysicalCpusOnly ? this.#smtProblem(pod, requested) : undefined;
    if (misfit !== undefined) return misfit;
    let cpus: CpuSet;
    try {
      cpus = this.#choose(requested, affinity, this.#reusable.get(uid) ?? NO_CPUS);
    } catch (error) {
      return (error as Error).message;
    }
    this.#shared = this.#shared.difference(cpus);
    const containers = this.#entries.get(uid) ?? new Map<string, CpuSet>();
    this.#entries.set(uid, containers.set(container.name, cpus));
    this.#remember(pod, container, cpus);
    return undefined;
  }

  release(podUid: string): void {
    this.#reusable.delete(podUid);
    const containers = this.#entries.get(podUid);
    if (containers === undefined) return;
    this.#entries.delete(podUid);
    for (const cpus of containers.values()) this.#shared = this.#shared.union(cpus);
    if (this.#options.strictReservation) this.#shared = this.#shared.difference(this.#reserved);
  }

  #all(): CpuSet {
    return new Set(this.topology.cpus.keys());
  }

  #available(): CpuSet {
    return this.#shared.difference(this.#reserved);
  }

  /** Its CPUs are for the containers after it, or no longer are. */
  #remember(pod: core.Pod, container: core.Container, cpus: CpuSet): void {
    const uid = pod.metadata.uid ?? "";
    const before = this.#reusable.get(uid) ?? NO_CPUS;
    for (const other of this.#reusable.keys()) if (other !== uid) this.#reusable.delete(other);
    this.#reusable.set(uid, endsBeforeOthers(pod, container) ? before.union(cpus) : before.difference(cpus));
  }

  #smtProblem(pod: core.Pod, requested: number): string | undefined {
    const perCore = cpusPerCore(this.topology);
    if (requested % perCore !== 0)
      return `${SMT_ALIGNMENT} requested ${requested} cpus not multiple cpus per core = ${perCore}`;
    const reusable = this.#reusable.get(pod.metadata.uid ?? "") ?? NO_CPUS;
    const available = this.#available().union(reusable);
    const reservedCores = new Set([...this.#reserved].map((id) => this.topology.cpus.get(id)?.core));
    const whole = [...available].filter((id) => !reservedCores.has(this.topology.cpus.get(id)?.core)).length;
    if (requested <= whole) return undefined;
    return `${SMT_ALIGNMENT} not enough free physical CPUs: available physical CPUs = ${whole}, requested CPUs = ${requested}, CPUs per core = ${perCore}`;
  }

  /** Those under the affinity first, then any. */
  #choose(count: number, { affinity }: TopologyHint, reusable: CpuSet): CpuSet {
    const free = this.#available().union(reusable);
    if (affinity === undefined) return this.#take(free, count);
    const aligned = this.#aligned(free, affinity);
    const first = this.#take(aligned, Math.min(count, aligned.size));
    return first.union(this.#take(free.difference(first), count - first.size));
  }

  #aligned(free: CpuSet, affinity: ReadonlySet<number>): CpuSet {
    const { cpus } = this.topology;
    const sockets = this.#socketsOf(affinity);
    return new Set(
      [...free].filter((id) => {
        const cpu = cpus.get(id);
        if (cpu === undefined) return false;
        return this.#options.alignBySocket ? sockets.has(cpu.socket) : affinity.has(cpu.numa);
      }),
    );
  }

  #take(from: CpuSet, count: number): CpuSet {
    const { fullPhysicalCpusOnly, distributeAcrossNuma, distributeAcrossCores, preferUncoreCache } = this.#options;
    const options = { preferUncoreCache, spreadCores: distributeAcrossCores };
    if (!distributeAcrossNuma) return takePacked(this.topology, from, count, options);
    return takeDistributed(this.topology, from, count, fullPhysicalCpusOnly ? cpusPerCore(this.topology) : 1, options);
  }

  /** Every set of NUMA nodes with enough CPUs; preferred are those with as few nodes as the machine allows. */
  #hints(available: CpuSet, reusable: CpuSet, requested: number): readonly TopologyHint[] {
    const { cpus } = this.topology;
    const nodes = numaNodesOf(this.topology);
    const numaOf = (id: number) => cpus.get(id)?.numa ?? -1;
    let fewest = nodes.length;
    const found: ReadonlySet<number>[] = [];
    for (const mask of numaMasks(nodes)) {
      const total = [...cpus.values()].filter(({ numa }) => mask.has(numa)).length;
      if (total >= requested) fewest = Math.min(fewest, mask.size);
      if ([...reusable].some((id) => !mask.has(numaOf(id)))) continue;
      const free = [...available.difference(reusable)].filter((id) => mask.has(numaOf(id))).length;
      if (free + reusable.size >= requested) found.push(mask);
    }
    return found.map((affinity) => ({
      affinity,
      preferred: affinity.size === fewest || (this.#options.alignBySocket && this.#isSocketAligned(affinity, fewest)),
    }));
  }

  #isSocketAligned(affinity: ReadonlySet<number>, fewest: number): boolean {
    const perSocket = Math.floor(this.topology.nodes.length / this.#socketsOf(numaNodesOf(this.topology)).size);
    return perSocket > 0 && this.#socketsOf(affinity).size === Math.ceil(fewest / perSocket);
  }

  #socketsOf(nodes: Iterable<number>): ReadonlySet<number> {
    const wanted = new Set(nodes);
    return new Set([...this.topology.cpus.values()].filter(({ numa }) => wanted.has(numa)).map(({ socket }) => socket));
  }

  #restore({ policyName, defaultCpuSet, entries }: CpuCheckpoint, file: string): void {
    const advice = `please drain this node and delete the CPU manager checkpoint file "${file}" before restarting Kubelet`;
    const refuse = (why: string): never => {
      throw new Error(`could not restore state from checkpoint: ${why}, ${advice}`);
    };
    if (policyName !== POLICY)
      refuse(`configured policy "${POLICY}" differs from state checkpoint policy "${policyName}"`);
    const shared = parsed(defaultCpuSet, (error) =>
      refuse(`could not parse default cpu set "${defaultCpuSet}": ${error}`),
    );
    if (shared.size === 0 && Object.keys(entries).length === 0) return;
    if (shared.size === 0) refuse("default cpuset cannot be empty");
    if (this.#options.strictReservation && !this.#reserved.isDisjointFrom(shared))
      refuse(
        `some of strictly reserved cpus: "${cpuSetText(this.#reserved.intersection(shared))}" are present in defaultCpuSet: "${cpuSetText(shared)}"`,
      );
    if (!this.#options.strictReservation && !this.#reserved.isSubsetOf(shared))
      refuse(
        `not all reserved cpus: "${cpuSetText(this.#reserved)}" are present in defaultCpuSet: "${cpuSetText(shared)}"`,
      );
    let known = this.#options.strictReservation ? shared.union(this.#reserved) : shared;
    for (const [uid, containers] of Object.entries(entries)) {
      const own = new Map<string, CpuSet>();
      for (const [name, text] of Object.entries(containers)) {
        const cpus = parsed(text, (error) =>
          refuse(`could not parse cpuset "${text}" for container "${name}" in pod "${uid}": ${error}`),
        );
        if (!cpus.isDisjointFrom(shared))
          refuse(
            `pod: ${uid}, container: ${name} cpuset: "${cpuSetText(cpus)}" overlaps with default cpuset "${cpuSetText(shared)}"`,
          );
        known = known.union(cpus);
        own.set(name, cpus);
      }
      this.#entries.set(uid, own);
    }
    if (!isSameSet(known, this.#all()))
      refuse(
        `current set of available CPUs "${cpuSetText(this.#all())}" doesn't match with CPUs in state "${cpuSetText(known)}"`,
      );
    this.#shared = shared;
  }
}

function parsed(text: string, refuse: (why: string) => never): CpuSet {
  try {
    return parseCpuSet(text);
  } catch (error) {
    return refuse((error as Error).message);
  }
}
