import { describe, expect, it } from "vitest";
import { cpuSetText, parseCpuSet } from "./cpu-set.ts";
import type { MachineTopology } from "./machine-topology.ts";
import { type TakeOptions, takeDistributed, takePacked } from "./take-cpus.ts";
import { machineOf } from "./testing/machines.ts";

const DUAL_SMT = machineOf({ sockets: 2, coresPerNuma: 4, threads: 2 });
const SMT = machineOf({ sockets: 1, coresPerNuma: 4, threads: 2 });
const EIGHT = machineOf({ sockets: 2, numaPerSocket: 4, coresPerNuma: 2, threads: 2 });
const CACHES = machineOf({ sockets: 1, coresPerNuma: 8, threads: 2, uncorePerNuma: 4 });

describe("packed", () => {
  it.each<[name: string, machine: MachineTopology, free: string, count: number, want: string, options?: TakeOptions]>([
    ["both threads of a core", SMT, "0-7", 2, "0,4"],
    ["a single thread, of the first core", SMT, "0-7", 1, "0"],
    ["of a core that is in use already, before a whole one is broken", SMT, "1-7", 1, "4"],
    ["a whole core beside it", SMT, "1-7", 2, "1,5"],
    ["a whole core and a thread of a broken one", SMT, "1-7", 3, "1,4-5"],
    ["a whole socket", DUAL_SMT, "0-15", 8, "0-3,8-11"],
    ["the socket that is free as a whole", DUAL_SMT, "1-15", 8, "4-7,12-15"],
    ["of the socket with fewer free ones, so that the other stays whole", DUAL_SMT, "1-15", 2, "1,9"],
    ["everything", DUAL_SMT, "0-15", 16, "0-15"],
    ["one of eight NUMA nodes", EIGHT, "0-31", 4, "0-1,16-17"],
    ["one socket of four NUMA nodes", EIGHT, "0-31", 16, "0-7,16-23"],
    ["a whole cache", CACHES, "1-15", 4, "2-3,10-11", { preferUncoreCache: true }],
    ["a part of the cache that has enough", CACHES, "1-15", 2, "1,9", { preferUncoreCache: true }],
    ["spread over cores", SMT, "0-7", 4, "0-3", { spreadCores: true }],
    ["none", SMT, "0-7", 0, ""],
  ])("%s", (_, machine, free, count, want, options) =>
    expect(cpuSetText(takePacked(machine, parseCpuSet(free), count, options))).toBe(want),
  );

  it("too many", () =>
    expect(() => takePacked(SMT, parseCpuSet("1-3"), 4)).toThrow(
      "not enough cpus available to satisfy request: requested=4, available=3",
    ));
});

describe("distributed over NUMA nodes", () => {
  it.each<[name: string, machine: MachineTopology, free: string, count: number, groups: number, want: string]>([
    ["one node suffices", DUAL_SMT, "0-15", 4, 1, "0-1,8-9"],
    ["half on each", DUAL_SMT, "0-15", 10, 1, "0-2,4-6,8-9,12-13"],
    ["an odd number: one more on the first", DUAL_SMT, "0-15", 11, 1, "0-2,4-6,8-10,12-13"],
    ["by whole cores", DUAL_SMT, "0-15", 12, 2, "0-2,4-6,8-10,12-14"],
    ["all that is left where it cannot be even", DUAL_SMT, "0,4-7,12-15", 9, 1, "0,4-7,12-15"],
  ])("%s", (_, machine, free, count, groups, want) =>
    expect(cpuSetText(takeDistributed(machine, parseCpuSet(free), count, groups))).toBe(want),
  );
});
