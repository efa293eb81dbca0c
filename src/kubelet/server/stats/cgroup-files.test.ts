/** The texts are as kernels write them: 5.15 and 6.18, with cgroups of version 1 and 2. */
import { describe, expect, it } from "vitest";
import { cgroupDetailsOf, cgroupUsageOf, DETAIL_FILES, type FileTexts, USAGE_FILES } from "./cgroup-files.ts";
import { parseIoStat, parsePartitions } from "./disk-io.ts";
import { parseCpuinfo } from "./machine-facts.ts";
import { parsePressure } from "./pressure.ts";

const VERSION_1: FileTexts = new Map([
  ["cpuacct.usage", "81324567890\n"],
  ["cpuacct.usage_user", "51324567890\n"],
  ["cpuacct.usage_sys", "30000000000\n"],
  ["cpu.stat", "nr_periods 120\nnr_throttled 37\nthrottled_time 2500000000\nnr_bursts 0\nburst_time 0\n"],
  ["cpu.shares", "102\n"],
  ["cpu.cfs_quota_us", "20000\n"],
  ["cpu.cfs_period_us", "100000\n"],
  ["memory.usage_in_bytes", "50331648\n"],
  ["memory.max_usage_in_bytes", "60000000\n"],
  ["memory.failcnt", "5\n"],
  ["memory.kmem.usage_in_bytes", "1048576\n"],
  ["memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"],
  ["memory.limit_in_bytes", "67108864\n"],
  ["memory.soft_limit_in_bytes", "9223372036854771712\n"],
  ["memory.memsw.limit_in_bytes", "9223372036854771712\n"],
  [
    "memory.stat",
    "cache 100\nrss 200\nmapped_file 30\npgfault 11\npgmajfault 1\ninactive_file 3\nhierarchical_memory_limit 67108864\n" +
      "total_cache 20000000\ntotal_rss 30000000\ntotal_mapped_file 4096\ntotal_swap 8192\ntotal_pgfault 1234\n" +
      "total_pgmajfault 7\ntotal_inactive_file 10331648\ntotal_active_file 5000000\n",
  ],
  ["cgroup.procs", "4711\n4712\n"],
  ["pids.current", "9\n"],
  ["pids.max", "max\n"],
  [
    "blkio.throttle.io_service_bytes_recursive",
    "8:0 Read 4096\n8:0 Write 8192\n8:0 Sync 8192\n8:0 Async 4096\n8:0 Discard 0\n8:0 Total 12288\nTotal 12288\n",
  ],
  ["blkio.throttle.io_serviced_recursive", "8:0 Read 1\n8:0 Write 2\n8:0 Total 3\nTotal 3\n"],
]);

const VERSION_2: FileTexts = new Map([
  [
    "cpu.stat",
    "usage_usec 81324567\nuser_usec 51324567\nsystem_usec 30000000\nnr_periods 120\nnr_throttled 37\nthrottled_usec 2500000\n",
  ],
  ["cpu.weight", "4\n"],
  ["cpu.max", "20000 100000\n"],
  ["memory.current", "50331648\n"],
  ["memory.peak", "60000000\n"],
  ["memory.events", "low 0\nhigh 0\nmax 5\noom 2\noom_kill 2\noom_group_kill 0\n"],
  ["memory.max", "67108864\n"],
  ["memory.low", "0\n"],
  ["memory.swap.current", "8192\n"],
  ["memory.swap.max", "16384\n"],
  [
    "memory.stat",
    "anon 30000000\nfile 20000000\nkernel 1048576\nfile_mapped 4096\ninactive_file 10331648\nactive_file 5000000\npgfault 1234\npgmajfault 7\n",
  ],
  ["cgroup.procs", "4711\n4712\n"],
  ["pids.current", "9\n"],
  ["pids.max", "100\n"],
  ["io.stat", "8:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n7:1 \n"],
  [
    "cpu.pressure",
    "some avg10=4.56 avg60=0.87 avg300=0.18 total=1030523\nfull avg10=4.50 avg60=0.80 avg300=0.10 total=1030476\n",
  ],
  [
    "memory.pressure",
    "some avg10=0.00 avg60=0.00 avg300=0.00 total=3\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=2\n",
  ],
  ["io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"],
]);

const USAGE = {
  cpuNanoSeconds: 81_324_567_000,
  memoryUsageBytes: 50_331_648,
  memoryWorkingSetBytes: 40_000_000,
  memoryRssBytes: 30_000_000,
  pageFaults: 1234,
  majorPageFaults: 7,
  processes: 9,
  swapBytes: 8192,
};
const DETAILS = {
  cpuUserNanoSeconds: 51_324_567_000,
  cpuSystemNanoSeconds: 30_000_000_000,
  periods: 120,
  throttledPeriods: 37,
  throttledNanoSeconds: 2_500_000_000,
  memoryMaxUsageBytes: 60_000_000,
  memoryCacheBytes: 20_000_000,
  memoryMappedFileBytes: 4096,
  memoryKernelBytes: 1_048_576,
  memoryActiveFileBytes: 5_000_000,
  memoryInactiveFileBytes: 10_331_648,
  memoryFailures: 5,
  oomKills: 2,
  io: [{ major: 8, minor: 0, readBytes: 4096, writeBytes: 8192, reads: 1, writes: 2 }],
  pids: [4711, 4712],
};
const LIMITS = { cpuQuotaUs: 20_000, cpuPeriodUs: 100_000, memoryBytes: 67_108_864 };

describe("a cgroup of version 1", () => {
  it("says what is used", () => {
    expect(cgroupUsageOf(1, VERSION_1)).toEqual({ ...USAGE, cpuNanoSeconds: 81_324_567_890 });
  });

  it("has details and limits; the largest number is no limit", () => {
    expect(cgroupDetailsOf(1, VERSION_1)).toEqual({
      ...DETAILS,
      cpuUserNanoSeconds: 51_324_567_890,
      ownPageFaults: 11,
      ownMajorPageFaults: 1,
      limits: { ...LIMITS, cpuShares: 102 },
    });
  });

  it("without a quota, swap accounting or blkio has none of them", () => {
    const texts = new Map([...VERSION_1, ["cpu.cfs_quota_us", "-1\n"], ["memory.stat", "total_rss 1\n"]]);
    for (const file of texts.keys()) if (file.startsWith("blkio")) texts.delete(file);
    expect(cgroupUsageOf(1, texts)).not.toHaveProperty("swapBytes");
    expect(cgroupDetailsOf(1, texts)).toMatchObject({ io: [], limits: { cpuQuotaUs: undefined } });
  });
});

describe("a cgroup of version 2", () => {
  it("says what is used, and what waited", () => {
    expect(cgroupUsageOf(2, VERSION_2)).toEqual({
      ...USAGE,
      swapAvailableBytes: 8192,
      pressures: {
        cpu: {
          some: { totalUs: 1_030_523, avg10: 4.56, avg60: 0.87, avg300: 0.18 },
          full: { totalUs: 1_030_476, avg10: 4.5, avg60: 0.8, avg300: 0.1 },
        },
        memory: {
          some: { totalUs: 3, avg10: 0, avg60: 0, avg300: 0 },
          full: { totalUs: 2, avg10: 0, avg60: 0, avg300: 0 },
        },
        io: {
          some: { totalUs: 0, avg10: 0, avg60: 0, avg300: 0 },
          full: { totalUs: 0, avg10: 0, avg60: 0, avg300: 0 },
        },
      },
    });
  });

  it("has details and limits", () => {
    expect(cgroupDetailsOf(2, VERSION_2)).toEqual({
      ...DETAILS,
      ownPageFaults: 1234,
      ownMajorPageFaults: 7,
      // 2 + 3 · 262142 / 9999
      limits: { ...LIMITS, cpuShares: 80, memoryReservationBytes: 0, swapBytes: 16_384, processes: 100 },
    });
  });

  it("on a kernel without PSI and swap has none of them", () => {
    const texts = new Map(VERSION_2);
    for (const file of ["cpu.pressure", "memory.pressure", "io.pressure", "memory.swap.current"]) texts.delete(file);
    const found = cgroupUsageOf(2, texts);
    expect(found).not.toHaveProperty("pressures");
    expect(found).not.toHaveProperty("swapBytes");
  });
});

it.each([1, 2] as const)("what is read of version %i is what is parsed, and a missing cgroup is none", (version) => {
  const read = new Set([...USAGE_FILES[version], ...DETAIL_FILES[version]].map(([, name]) => name));
  expect([...(version === 1 ? VERSION_1 : VERSION_2).keys()].filter((name) => !read.has(name))).toEqual([]);
  expect([...read].filter((name) => !(version === 1 ? VERSION_1 : VERSION_2).has(name))).toEqual([]);
  expect(cgroupUsageOf(version, new Map())).toBeUndefined();
});

describe("other files of the kernel", () => {
  it("the cpu pressure of old kernels has no full line", () => {
    expect(parsePressure("some avg10=1.00 avg60=0.00 avg300=0.00 total=9\n")).toEqual({
      some: { totalUs: 9, avg10: 1, avg60: 0, avg300: 0 },
      full: undefined,
    });
  });

  it("devices without figures are left out of io.stat", () => {
    expect(parseIoStat("7:0 \n253:16 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n")).toEqual([
      { major: 253, minor: 16, readBytes: 1, writeBytes: 2, reads: 3, writes: 4 },
    ]);
  });

  it("partitions have names", () => {
    const text = "major minor  #blocks  name\n\n   8        0   10485760 sda\n 254        1    1048576 vda1\n";
    expect(parsePartitions(text)).toEqual(
      new Map([
        ["8:0", "/dev/sda"],
        ["254:1", "/dev/vda1"],
      ]),
    );
  });

  it.each([
    {
      text: "processor\t: 0\nphysical id\t: 0\ncore id\t\t: 0\n\nprocessor\t: 1\nphysical id\t: 0\ncore id\t\t: 0\n\nprocessor\t: 2\nphysical id\t: 1\ncore id\t\t: 0\n",
      want: { sockets: 2, physicalCores: 2 },
    },
    { text: "processor\t: 0\nBogoMIPS\t: 100\n", want: {} },
  ])("cores and sockets are counted where the kernel says: $want", ({ text, want }) => {
    expect(parseCpuinfo(text)).toEqual(want);
  });
});
