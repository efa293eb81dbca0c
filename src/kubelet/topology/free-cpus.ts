/** The CPUs that are free while some are taken one after the other, grouped by what they share. */

import { type CpuSet, sortedCpus } from "./cpu-set.ts";
import { type Cpu, cpusPerCore, type MachineTopology } from "./machine-topology.ts";

export type Level = "socket" | "numa" | "uncoreCache" | "core";

export class FreeCpus {
  readonly topology: MachineTopology;
  readonly taken = new Set<number>();
  readonly #free: Set<number>;
  needed: number;

  constructor(topology: MachineTopology, available: CpuSet, needed: number) {
    this.topology = topology;
    this.#free = new Set([...available].filter((id) => topology.cpus.has(id)));
    this.needed = needed;
  }

  get size(): number {
    return this.#free.size;
  }

  get cpusPerCore(): number {
    return cpusPerCore(this.topology);
  }

  /** Free CPUs of a group, or all. */
  free(level?: Level, id?: number): readonly Cpu[] {
    return this.#cpus(this.#free).filter((cpu) => level === undefined || cpu[level] === id);
  }

  /** How many CPUs the group has on the machine. */
  total(level: Level, id: number): number {
    return this.#cpus(this.topology.cpus.keys()).filter((cpu) => cpu[level] === id).length;
  }

  isWhole(level: Level, id: number): boolean {
    return this.free(level, id).length === this.total(level, id);
  }

  /** Groups that have free CPUs, those with the fewest first. */
  groups(level: Level, among: readonly Cpu[] = this.free()): readonly number[] {
    const counts = new Map<number, number>();
    for (const cpu of among) counts.set(cpu[level], (counts.get(cpu[level]) ?? 0) + 1);
    return [...counts].sort(([a, many], [b, more]) => many - more || a - b).map(([id]) => id);
  }

  take(cpus: Iterable<number>): void {
    for (const id of cpus) {
      if (!this.#free.delete(id)) continue;
      this.taken.add(id);
      this.needed -= 1;
    }
  }

  #cpus(ids: Iterable<number>): readonly Cpu[] {
    return sortedCpus(ids).flatMap((id) => this.topology.cpus.get(id) ?? []);
  }
}
