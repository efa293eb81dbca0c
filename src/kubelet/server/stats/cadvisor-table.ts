/** What /metrics/cadvisor shows of each row, as a table: names, types and labels are cAdvisor's. */
import type { CadvisorRow } from "./cadvisor-rows.ts";
import type { CgroupDetails, CgroupUsage } from "./cgroup-usage.ts";
import type { DiskUsage } from "./disks.ts";
import type { Family } from "./exposition.ts";
import type { InterfaceUsage } from "./network.ts";
import type { Pressure, Pressures } from "./pressure.ts";

/** A value with labels of its own. */
export interface Point {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number | undefined;
}

export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: Family["type"];
  /** Whether samples have the time of their measurement. */
  readonly isTimed: boolean;
  readonly points: (row: CadvisorRow, devices: ReadonlyMap<string, string>) => readonly Point[];
}

const seconds = (ns: number | undefined) => (ns === undefined ? undefined : ns / 1e9);
const wholeSeconds = (ms: number | undefined) => (ms === undefined || ms === 0 ? undefined : Math.floor(ms / 1000));
const one =
  (read: (row: CadvisorRow) => number | undefined): Metric["points"] =>
  (row) => [{ value: read(row) }];
const used = (read: (usage: CgroupUsage) => number | undefined) => one(({ usage }) => usage && read(usage));
const detail = (read: (details: CgroupDetails) => number | undefined) => one(({ details }) => details && read(details));
const limit = (read: (limits: CgroupDetails["limits"]) => number | undefined) =>
  one(({ details }) => details && (read(details.limits) ?? undefined));
/** Only where there is a quota: without one, the kernel has no periods. */
const throttled = (read: (details: CgroupDetails) => number | undefined) =>
  detail((details) => (details.limits.cpuQuotaUs === undefined ? undefined : read(details)));
const memoryLimit = (read: (limits: CgroupDetails["limits"]) => number | undefined) =>
  // No limit is 0.
  one(({ details }) => details && (read(details.limits) ?? 0));
const network =
  (read: (each: InterfaceUsage) => number): Metric["points"] =>
  (row) =>
    row.network.map((each) => ({ labels: { interface: each.name }, value: read(each) }));
const filesystem =
  (read: (disk: DiskUsage, usedBytes: number) => number): Metric["points"] =>
  ({ disk }) =>
    disk === undefined ? [] : [{ labels: { device: disk.of.device }, value: read(disk.of, disk.usedBytes) }];
const io =
  (name: "readBytes" | "writeBytes" | "reads" | "writes"): Metric["points"] =>
  ({ details }, devices) =>
    (details?.io ?? []).map((each) => {
      const id = `${each.major}:${each.minor}`;
      return { labels: { device: devices.get(id) ?? id }, value: each[name] };
    });
const pressure = (resource: keyof Pressures, kind: "some" | "full") =>
  used(({ pressures }) => micros(pressures?.[resource]?.[kind]));
const micros = (found: Pressure | undefined) => (found === undefined ? undefined : found.totalUs / 1e6);

const timed =
  (type: Family["type"]) =>
  (name: string, help: string, points: Metric["points"]): Metric => ({ name, help, type, isTimed: true, points });
const counter = timed("counter");
const gauge = timed("gauge");
const fixed = (name: string, help: string, points: Metric["points"]): Metric => ({
  ...gauge(name, help, points),
  isTimed: false,
});

export const METRICS: readonly Metric[] = [
  {
    ...counter("container_cpu_usage_seconds_total", "CPU time used, in seconds.", ({ usage }) => [
      { labels: { cpu: "total" }, value: seconds(usage?.cpuNanoSeconds) },
    ]),
  },
  counter(
    "container_cpu_user_seconds_total",
    "CPU time used in user mode, in seconds.",
    detail(({ cpuUserNanoSeconds }) => seconds(cpuUserNanoSeconds)),
  ),
  counter(
    "container_cpu_system_seconds_total",
    "CPU time used in the kernel, in seconds.",
    detail(({ cpuSystemNanoSeconds }) => seconds(cpuSystemNanoSeconds)),
  ),
  counter(
    "container_cpu_cfs_periods_total",
    "Periods of enforcing the CPU quota.",
    throttled((each) => each.periods),
  ),
  counter(
    "container_cpu_cfs_throttled_periods_total",
    "Periods in which the CPU quota was used up.",
    throttled((each) => each.throttledPeriods),
  ),
  counter(
    "container_cpu_cfs_throttled_seconds_total",
    "Time that processes waited because the CPU quota was used up, in seconds.",
    throttled((each) => seconds(each.throttledNanoSeconds)),
  ),
  gauge(
    "container_memory_usage_bytes",
    "Memory in use, including caches.",
    used((each) => each.memoryUsageBytes),
  ),
  gauge(
    "container_memory_working_set_bytes",
    "Memory in use without inactive file caches.",
    used((each) => each.memoryWorkingSetBytes),
  ),
  gauge(
    "container_memory_rss",
    "Anonymous memory, in bytes.",
    used((each) => each.memoryRssBytes),
  ),
  gauge(
    "container_memory_swap",
    "Swap in use, in bytes.",
    used((each) => each.swapBytes),
  ),
  gauge(
    "container_memory_cache",
    "Page cache, in bytes.",
    detail((each) => each.memoryCacheBytes),
  ),
  gauge(
    "container_memory_mapped_file",
    "Mapped files, in bytes.",
    detail((each) => each.memoryMappedFileBytes),
  ),
  gauge(
    "container_memory_kernel_usage",
    "Memory of the kernel, in bytes.",
    detail((each) => each.memoryKernelBytes),
  ),
  gauge(
    "container_memory_max_usage_bytes",
    "The most memory used so far.",
    detail((each) => each.memoryMaxUsageBytes),
  ),
  gauge(
    "container_memory_total_active_file_bytes",
    "Active file cache, in bytes.",
    detail((each) => each.memoryActiveFileBytes),
  ),
  gauge(
    "container_memory_total_inactive_file_bytes",
    "Inactive file cache, in bytes.",
    detail((each) => each.memoryInactiveFileBytes),
  ),
  counter(
    "container_memory_failcnt",
    "How often the limit of memory was hit.",
    detail((each) => each.memoryFailures),
  ),
  counter("container_memory_failures_total", "Page faults.", ({ usage, details }) =>
    usage === undefined || details === undefined
      ? []
      : [
          fault("pgfault", "container", details.ownPageFaults),
          fault("pgmajfault", "container", details.ownMajorPageFaults),
          fault("pgfault", "hierarchy", usage.pageFaults),
          fault("pgmajfault", "hierarchy", usage.majorPageFaults),
        ],
  ),
  counter(
    "container_oom_events_total",
    "Processes killed for want of memory.",
    detail((each) => each.oomKills),
  ),
  gauge(
    "container_processes",
    "Processes.",
    detail(({ pids }) => pids.length),
  ),
  gauge(
    "container_threads",
    "Threads.",
    used(({ processes }) => processes),
  ),
  gauge("container_threads_max", "The most threads allowed; 0: any number.", ({ details }) => [
    { value: details && (details.limits.processes ?? 0) },
  ]),
  gauge(
    "container_file_descriptors",
    "Open file descriptors.",
    one(({ open }) => open?.files),
  ),
  gauge(
    "container_sockets",
    "Open sockets.",
    one(({ open }) => open?.sockets),
  ),
  gauge(
    "container_fs_usage_bytes",
    "What is used of a file system.",
    filesystem((_, usedBytes) => usedBytes),
  ),
  gauge(
    "container_fs_limit_bytes",
    "The size of a file system.",
    filesystem((disk) => disk.capacityBytes),
  ),
  gauge(
    "container_fs_inodes_total",
    "Inodes of a file system.",
    filesystem((disk) => disk.inodes),
  ),
  gauge(
    "container_fs_inodes_free",
    "Free inodes of a file system.",
    filesystem((disk) => disk.inodesFree),
  ),
  counter("container_fs_reads_bytes_total", "Bytes read from a device.", io("readBytes")),
  counter("container_fs_reads_total", "Reads of a device.", io("reads")),
  counter("container_fs_writes_bytes_total", "Bytes written to a device.", io("writeBytes")),
  counter("container_fs_writes_total", "Writes to a device.", io("writes")),
  counter("container_blkio_device_usage_total", "Bytes read from and written to a device.", ({ details }, devices) =>
    (details?.io ?? []).flatMap(({ major, minor, readBytes, writeBytes }) => {
      const labels = {
        device: devices.get(`${major}:${minor}`) ?? "",
        major: String(major),
        minor: String(minor),
      };
      return [
        { labels: { ...labels, operation: "Read" }, value: readBytes },
        { labels: { ...labels, operation: "Write" }, value: writeBytes },
      ];
    }),
  ),
  counter(
    "container_network_receive_bytes_total",
    "Bytes received.",
    network((each) => each.rxBytes),
  ),
  counter(
    "container_network_receive_packets_total",
    "Packets received.",
    network((each) => each.rxPackets),
  ),
  counter(
    "container_network_receive_packets_dropped_total",
    "Received packets that were dropped.",
    network((each) => each.rxDropped),
  ),
  counter(
    "container_network_receive_errors_total",
    "Errors of receiving.",
    network((each) => each.rxErrors),
  ),
  counter(
    "container_network_transmit_bytes_total",
    "Bytes sent.",
    network((each) => each.txBytes),
  ),
  counter(
    "container_network_transmit_packets_total",
    "Packets sent.",
    network((each) => each.txPackets),
  ),
  counter(
    "container_network_transmit_packets_dropped_total",
    "Packets to send that were dropped.",
    network((each) => each.txDropped),
  ),
  counter(
    "container_network_transmit_errors_total",
    "Errors of sending.",
    network((each) => each.txErrors),
  ),
  ...(["cpu", "memory", "io"] as const).flatMap((resource) => [
    counter(
      `container_pressure_${resource}_waiting_seconds_total`,
      `Time in which some tasks waited for ${resource}, in seconds.`,
      pressure(resource, "some"),
    ),
    counter(
      `container_pressure_${resource}_stalled_seconds_total`,
      `Time in which all tasks waited for ${resource}, in seconds.`,
      pressure(resource, "full"),
    ),
  ]),
  fixed(
    "container_start_time_seconds",
    "When it started.",
    one(({ startedAtMs }) => wholeSeconds(startedAtMs)),
  ),
  gauge(
    "container_last_seen",
    "When it was measured last.",
    one(({ atMs }) => wholeSeconds(atMs)),
  ),
  fixed(
    "container_spec_cpu_period",
    "The period of the CPU quota, in µs.",
    limit((each) => each.cpuPeriodUs),
  ),
  fixed(
    "container_spec_cpu_quota",
    "The CPU quota, in µs.",
    limit((each) => each.cpuQuotaUs),
  ),
  fixed(
    "container_spec_cpu_shares",
    "The CPU shares.",
    limit((each) => each.cpuShares),
  ),
  fixed(
    "container_spec_memory_limit_bytes",
    "The limit of memory.",
    memoryLimit((each) => each.memoryBytes),
  ),
  fixed(
    "container_spec_memory_reservation_limit_bytes",
    "The memory that is kept for it.",
    memoryLimit((each) => each.memoryReservationBytes),
  ),
  fixed(
    "container_spec_memory_swap_limit_bytes",
    "The limit of swap.",
    memoryLimit((each) => each.swapBytes),
  ),
];

function fault(type: string, scope: string, value: number | undefined): Point {
  return { labels: { failure_type: type, scope }, value };
}
