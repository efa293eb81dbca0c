import { describe, expect, it } from "vitest";
import { cgroupFiles, groupFiles } from "./cgroup-files.ts";
import { parseHierarchies } from "./host-cgroups.ts";
import { tooMany } from "./log-rotation.ts";
import { meminfo } from "./machine.ts";

describe("the machine", () => {
  it("reads /proc/meminfo", () =>
    expect(meminfo("MemTotal:  16 kB\nMemAvailable:   8 kB\n", "MemAvailable")).toBe(8192));

  it("finds its cgroups of both versions", () => {
    const v1 =
      "1 0 0:1 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n2 0 0:2 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n3 0 0:3 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    expect(parseHierarchies(v1)).toMatchObject({
      version: 1,
      roots: ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified"],
    });
    expect(parseHierarchies("1 0 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")).toMatchObject({
      version: 2,
      roots: ["/sys/fs/cgroup"],
    });
  });

  it("limits are written as each version has them", () => {
    const limits = { cpuShares: 1024, cpuQuota: 50_000, cpuPeriod: 100_000, memoryLimitBytes: 64 };
    expect(cgroupFiles(1, limits)).toContainEqual(["memory", "memory.limit_in_bytes", "64"]);
    expect(cgroupFiles(2, limits)).toEqual([
      ["all", "cpu.weight", "39"],
      ["all", "cpu.max", "50000 100000"],
      ["all", "memory.max", "64"],
    ]);
    expect(cgroupFiles(2, { cpuShares: 2 })).toContainEqual(["all", "cpu.max", "max 100000"]);
    for (const pids of [undefined, 0, -1]) expect(String(cgroupFiles(2, { pids }))).not.toContain("pids");
    expect(cgroupFiles(2, { pids: 100 })).toContainEqual(["all", "pids.max", "100"]);
    expect(cgroupFiles(1, { pids: 100 })).toContainEqual(["pids", "pids.max", "100"]);
    const hugePages = new Map([[2048, 4096]]);
    expect(cgroupFiles(2, { hugePages })).toContainEqual(["all", "hugetlb.2MB.max", "4096"]);
    expect(cgroupFiles(1, { hugePages })).toContainEqual(["hugetlb", "hugetlb.2MB.limit_in_bytes", "4096"]);
  });

  it("limits of groups leave alone what they do not name", () => {
    expect(groupFiles(1, { cpuShares: 512, memoryLimitBytes: 64, pids: 9 })).toEqual([
      ["cpu", "cpu.shares", "512"],
      ["memory", "memory.limit_in_bytes", "64"],
      ["pids", "pids.max", "9"],
    ]);
    expect(groupFiles(2, { cpuShares: 512, unified: { "memory.low": "7" } })).toEqual([
      ["all", "cpu.weight", "20"],
      ["all", "memory.low", "7"],
    ]);
    expect(groupFiles(2, {})).toEqual([]);
  });

  it("of logs put aside the newest stay", () => expect(tooMany(["1", "2", "3", "4"], 5)).toEqual(["1"]));
});
