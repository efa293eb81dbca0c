import { describe, expect, it } from "vitest";
import { cgroupFiles, parseHierarchies } from "./host-cgroups.ts";
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
    for (const none of [undefined, 0, -1]) expect(String(cgroupFiles(2, {}, none))).not.toContain("pids");
    expect(cgroupFiles(2, {}, 100)).toContainEqual(["all", "pids.max", "100"]);
    expect(cgroupFiles(1, {}, 100)).toContainEqual(["pids", "pids.max", "100"]);
  });

  it("of logs put aside the newest stay", () => expect(tooMany(["1", "2", "3", "4"], 5)).toEqual(["1"]));
});
