import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { cadvisorMetrics } from "./cadvisor-metrics.ts";
import type { CgroupReader } from "./cadvisor-rows.ts";
import { cgroupUsage, processIn } from "./cgroup-usage.ts";
import { CpuRates } from "./cpu-rates.ts";
import { exposition } from "./exposition.ts";
import { parseNetDev } from "./network.ts";
import type { NodeStats } from "./node-stats.ts";
import { machineUsage } from "./node-usage.ts";
import { resourceMetrics } from "./resource-metrics.ts";
import { summary } from "./summary.ts";

describe("the rate of CPU", () => {
  const at = (atMs: number, nanoSeconds: number) => new Map([["a", { atMs, nanoSeconds }]]);
  it.each([
    { name: "one look is none", looks: [at(0, 5)], want: undefined },
    { name: "half a core", looks: [at(0, 0), at(1000, 5e8)], want: 5e8 },
    { name: "looks that are too close keep the older one", looks: [at(0, 0), at(1000, 1e9), at(1100, 5e9)], want: 1e9 },
    { name: "and are told from there", looks: [at(0, 0), at(1000, 0), at(1100, 9), at(2000, 1e9)], want: 1e9 },
    { name: "too long ago", looks: [at(0, 0), at(120_000, 5)], want: undefined },
    { name: "something new under the same name", looks: [at(0, 9e9), at(1000, 5)], want: undefined },
    { name: "gone in between", looks: [at(0, 0), new Map(), at(1000, 5)], want: undefined },
  ])("$name", ({ looks, want }) => {
    const rates = new CpuRates();
    for (const look of looks) rates.take(look);
    expect(rates.nanoCores("a")).toBe(want);
  });
});

const usage = {
  cpuNanoSeconds: 2e9,
  memoryUsageBytes: 100,
  memoryWorkingSetBytes: 80,
  memoryRssBytes: 60,
  pageFaults: 1,
  majorPageFaults: 0,
  processes: 3,
  swapBytes: 4,
  swapAvailableBytes: 6,
  pressures: {
    cpu: { some: { totalUs: 2_500_000, avg10: 1, avg60: 2, avg300: 3 } },
    io: { full: { totalUs: 500_000, avg10: 0, avg60: 0, avg300: 0 } },
  },
};
const stats: NodeStats = {
  atMs: 1000,
  usage,
  nanoCores: 7,
  machine: {
    memoryAvailableBytes: 900,
    memoryBytes: 1000,
    diskAvailableBytes: 40,
    diskBytes: 100,
    inodesFree: 5,
    inodes: 9,
    processes: 11,
    maxProcesses: 99,
  },
  network: [],
  images: [{ mountpoint: "/", usedBytes: 30, inodesUsed: 1 }],
  disk: { device: "/dev/sda1", capacityBytes: 100, availableBytes: 40, inodes: 9, inodesFree: 5 },
  imageDisk: { device: "/dev/sdb1", capacityBytes: 200, availableBytes: 140, inodes: 19, inodesFree: 15 },
  kubepods: { usage, nanoCores: 6 },
  pods: [
    {
      pod: { metadata: { name: "web", namespace: "default", uid: "u" } },
      usage,
      nanoCores: 5,
      startedAtMs: 500,
      sandbox: {
        id: "s",
        metadata: { name: "web", uid: "u", namespace: "default", attempt: 0 },
        state: "ready",
        createdAtMs: 500,
        labels: {},
        annotations: {},
        runtimeHandler: "",
      },
      volumes: [
        { name: "tmp", atMs: 900, capacityBytes: 100, availableBytes: 40, usedBytes: 5, inodesUsed: 2, isLocal: true },
        {
          name: "data",
          claim: { name: "data", namespace: "default" },
          atMs: 800,
          capacityBytes: 1000,
          usedBytes: 7,
          abnormal: true,
          message: "it is bad",
          isLocal: false,
        },
      ],
      network: parseNetDev("  eth0: 10 2 0 0 0 0 0 0 20 3 1 0 0 0 0 0\n    lo: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"),
      containers: [
        {
          name: "main",
          container: {
            id: "c",
            podSandboxId: "s",
            metadata: { name: "main", attempt: 0 },
            image: "img",
            imageRef: "img",
            state: "running",
            createdAtMs: 600,
            labels: {},
            annotations: {},
          },
          stats: {
            id: "c",
            labels: {},
            timestampMs: 990,
            cpuCoreNanoSeconds: 15e8,
            memoryWorkingSetBytes: 50,
            memoryUsageBytes: 55,
            memoryRssBytes: 45,
            writableLayerBytes: 12,
            writableLayerInodes: 2,
          },
          nanoCores: undefined,
          usage: { ...usage, pageFaults: 5 },
          logs: { bytes: 8, inodes: 2 },
        },
      ],
    },
  ],
};

it("/stats/summary has the node and its Pods", () => {
  expect(summary("n", stats, 0)).toMatchObject({
    node: {
      nodeName: "n",
      systemContainers: [{ name: "pods", cpu: { usageNanoCores: 6 } }],
      cpu: { usageNanoCores: 7, usageCoreNanoSeconds: 2e9, psi: { some: { total: 2_500_000, avg60: 2 } } },
      memory: { availableBytes: 900, workingSetBytes: 80 },
      swap: { swapUsageBytes: 4, swapAvailableBytes: 6 },
      io: { psi: { full: { total: 500_000 } } },
      fs: { usedBytes: 60, capacityBytes: 100, inodesUsed: 4 },
      runtime: { imageFs: { usedBytes: 30, capacityBytes: 200 }, containerFs: { usedBytes: 30, inodesUsed: 1 } },
      rlimit: { maxpid: 99, curproc: 11 },
    },
    pods: [
      {
        podRef: { name: "web", namespace: "default", uid: "u" },
        cpu: { usageNanoCores: 5 },
        network: { name: "eth0", rxBytes: 10, txBytes: 20, txErrors: 1 },
        "ephemeral-storage": { usedBytes: 25, inodesUsed: 6 },
        volume: [
          { name: "tmp", time: "1970-01-01T00:00:00.900Z", usedBytes: 5 },
          {
            name: "data",
            time: "1970-01-01T00:00:00.800Z",
            capacityBytes: 1000,
            usedBytes: 7,
            pvcRef: { name: "data", namespace: "default" },
            volumeHealthStats: { abnormal: true },
          },
        ],
        swap: { swapUsageBytes: 4 },
        process_stats: { process_count: 3 },
        containers: [
          {
            name: "main",
            startTime: "1970-01-01T00:00:00.600Z",
            cpu: { usageCoreNanoSeconds: 15e8 },
            memory: { workingSetBytes: 50, pageFaults: 5 },
            rootfs: { usedBytes: 12, inodesUsed: 2 },
            logs: { usedBytes: 8, inodesUsed: 2 },
          },
        ],
      },
    ],
  });
});

it("/metrics/resource has what kubectl top is made from", () => {
  const lines = exposition(resourceMetrics(stats))
    .split("\n")
    .filter((line) => !line.startsWith("#"));
  expect(lines).toEqual([
    'container_cpu_usage_seconds_total{container="main",namespace="default",pod="web"} 1.5 990',
    'container_memory_working_set_bytes{container="main",namespace="default",pod="web"} 50 990',
    'container_start_time_seconds{container="main",namespace="default",pod="web"} 0.6',
    'container_swap_limit_bytes{container="main",namespace="default",pod="web"} 10 990',
    'container_swap_usage_bytes{container="main",namespace="default",pod="web"} 4 990',
    "node_cpu_usage_seconds_total 2 1000",
    "node_memory_working_set_bytes 80 1000",
    "node_swap_usage_bytes 4 1000",
    'pod_cpu_usage_seconds_total{namespace="default",pod="web"} 2 1000',
    'pod_memory_working_set_bytes{namespace="default",pod="web"} 80 1000',
    'pod_swap_usage_bytes{namespace="default",pod="web"} 4 1000',
    "resource_scrape_error 0",
    "",
  ]);
});

it("/stats/summary?only_cpu_and_memory=true has no more than that", () => {
  const { node, pods } = summary("n", stats, 0, true) as { readonly node: object; readonly pods: readonly object[] };
  expect(Object.keys(node).sort()).toEqual(["cpu", "memory", "nodeName", "startTime", "swap", "systemContainers"]);
  const [pod = {}] = pods;
  expect(Object.keys(pod).sort()).toEqual(["containers", "cpu", "memory", "podRef", "startTime", "swap"]);
});

describe("/metrics/cadvisor", () => {
  const cgroups: string[] = [];
  const reader: CgroupReader = {
    usage: async (cgroup) => (cgroup.endsWith("/besteffort") || cgroup.endsWith("/s") ? usage : undefined),
    details: async (cgroup) => {
      cgroups.push(cgroup);
      return {
        periods: 10,
        throttledPeriods: 4,
        throttledNanoSeconds: 15e8,
        ownPageFaults: 2,
        io: [{ major: 8, minor: 0, readBytes: 512, writeBytes: 0, reads: 1, writes: 0 }],
        pids: [7, 8],
        limits: cgroup.endsWith("/c") ? { cpuQuotaUs: 20_000, cpuPeriodUs: 100_000 } : {},
      };
    },
    open: async (pids) => ({ files: pids.length * 3, sockets: 1 }),
  };
  const facts = {
    cpus: 4,
    sockets: 1,
    memoryBytes: 1000,
    swapBytes: 0,
    cgroupRoot: "/k8ts",
    bootId: "b",
    machineId: "m",
    systemUuid: "s",
    kernelVersion: "6",
    osImage: "os",
  };
  const lines = async () =>
    exposition(await cadvisorMetrics(stats, facts, reader, new Map([["8:0", "/dev/sda"]]))).split("\n");
  const id = "/k8ts/kubepods/besteffort/podu";
  const row = (labels: Readonly<Record<string, string>>) =>
    Object.entries({ container: "", id: "", image: "", name: "", namespace: "", pod: "", ...labels })
      .map(([name, value]) => `${name}="${value}"`)
      .join();
  const node = row({ id: "/" });
  const pod = { namespace: "default", pod: "web" };
  const main = row({ container: "main", id: `${id}/c`, image: "img", name: "c", ...pod });
  const sandbox = row({ id: `${id}/s`, name: "s", ...pod });

  it.each([
    `container_cpu_usage_seconds_total{${node},cpu="total"} 2 1000`,
    `container_cpu_usage_seconds_total{${main},cpu="total"} 2 990`,
    `container_cpu_usage_seconds_total{${row({ id: "/k8ts/kubepods/besteffort" })},cpu="total"} 2 1000`,
    `container_cpu_usage_seconds_total{${row({ id, ...pod })},cpu="total"} 2 1000`,
    `container_cpu_cfs_throttled_periods_total{${main}} 4 990`,
    `container_cpu_cfs_throttled_seconds_total{${main}} 1.5 990`,
    `container_memory_working_set_bytes{${main}} 80 990`,
    `container_memory_swap{${main}} 4 990`,
    `container_memory_failures_total{${main},failure_type="pgfault",scope="container"} 2 990`,
    `container_memory_failures_total{${main},failure_type="pgfault",scope="hierarchy"} 5 990`,
    `container_fs_usage_bytes{${main},device="/dev/sdb1"} 20 990`,
    `container_fs_limit_bytes{${node},device="/dev/sda1"} 100 1000`,
    `container_fs_reads_bytes_total{${main},device="/dev/sda"} 512 990`,
    `container_blkio_device_usage_total{${main},device="/dev/sda",major="8",minor="0",operation="Read"} 512 990`,
    `container_network_receive_bytes_total{${sandbox},interface="eth0"} 10 1000`,
    `container_network_transmit_errors_total{${sandbox},interface="eth0"} 1 1000`,
    `container_pressure_cpu_waiting_seconds_total{${main}} 2.5 990`,
    `container_pressure_io_stalled_seconds_total{${node}} 0.5 1000`,
    `container_processes{${main}} 2 990`,
    `container_file_descriptors{${main}} 6 990`,
    `container_spec_cpu_quota{${main}} 20000`,
    `container_spec_memory_limit_bytes{${main}} 0`,
    `container_start_time_seconds{${main}} 0`,
    'machine_cpu_cores{boot_id="b",machine_id="m",system_uuid="s"} 4',
    "container_scrape_error 0",
  ])("has %s", async (line) => {
    expect(await lines()).toContain(line);
  });

  it("leaves out what the kernel does not have", async () => {
    const names = new Set((await lines()).map((line) => line.split(/[{ ]/)[0]));
    expect([...names]).not.toEqual(expect.arrayContaining(["container_pressure_memory_waiting_seconds_total"]));
    expect([...names]).not.toEqual(expect.arrayContaining(["container_oom_events_total"]));
    expect([...names]).not.toEqual(expect.arrayContaining(["machine_cpu_physical_cores"]));
    const throttling = (await lines()).filter((line) => line.startsWith("container_cpu_cfs_periods_total"));
    expect(throttling).toHaveLength(1);
  });
});

describe("a control group", () => {
  const root = mkdtempSync(join(tmpdir(), "k8ts-cgroups-"));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  const write = (folder: string, files: Readonly<Record<string, string>>) => {
    mkdirSync(join(root, folder), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(root, folder, name), text);
  };

  it.each([
    {
      version: 1 as const,
      given: () => {
        write("cpuacct/pod1", { "cpuacct.usage": "5000\n" });
        const stat = "rss 1\ntotal_inactive_file 30\ntotal_rss 60\ntotal_swap 0\ntotal_pgfault 7\ntotal_pgmajfault 1\n";
        write("memory/pod1", { "memory.usage_in_bytes": "100\n", "memory.stat": stat, "cgroup.procs": "42\n43\n" });
        write("pids/pod1", { "pids.current": "3\n" });
        return new Map(["cpuacct", "memory", "pids"].map((each) => [each, join(root, each)]));
      },
    },
    {
      version: 2 as const,
      given: () => {
        const stat = "anon 60\ninactive_file 30\npgfault 7\npgmajfault 1\n";
        const files = { "cpu.stat": "usage_usec 5\nuser_usec 3\n", "memory.current": "100\n", "memory.stat": stat };
        write("unified/pod1", { ...files, "pids.current": "3\n", "cgroup.procs": "42\n" });
        return new Map([["all", join(root, "unified")]]);
      },
    },
  ])("of version $version", async ({ version, given }) => {
    const hierarchies = { version, mounts: given(), roots: [] };
    expect(await cgroupUsage(hierarchies, "/pod1")).toEqual({
      cpuNanoSeconds: 5000,
      memoryUsageBytes: 100,
      memoryWorkingSetBytes: 70,
      memoryRssBytes: 60,
      pageFaults: 7,
      majorPageFaults: 1,
      processes: 3,
      ...(version === 1 && { swapBytes: 0 }),
    });
    expect(await processIn(hierarchies, "/pod1")).toBe(42);
    expect(await cgroupUsage(hierarchies, "/none")).toBeUndefined();
    expect(await processIn(hierarchies, "/none")).toBeUndefined();
  });
});

it("a machine's own figures come from /proc", () => {
  expect(
    machineUsage({
      stat: "cpu  100 1 50 900 10 2 3 4 0 0\ncpu0 …",
      memory:
        "MemTotal: 1000 kB\nMemFree: 300 kB\nMemAvailable: 600 kB\nAnonPages: 200 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\n",
      vmstat: "pgfault 12\npgmajfault 3\n",
      loadavg: "0.1 0.2 0.3 2/345 999",
    }),
  ).toEqual({
    cpuNanoSeconds: 160 * 1e7,
    memoryUsageBytes: 700 * 1024,
    memoryWorkingSetBytes: 400 * 1024,
    memoryRssBytes: 200 * 1024,
    pageFaults: 12,
    majorPageFaults: 3,
    processes: 345,
    swapBytes: 30 * 1024,
    swapAvailableBytes: 20 * 1024,
  });
});
