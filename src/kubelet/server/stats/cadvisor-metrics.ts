/** GET /metrics/cadvisor: the most common of cAdvisor's container metrics. */
import { join } from "node:path";
import { podCgroup } from "../../containers/index.ts";
import type { Family, FamilySample } from "./exposition.ts";
import type { InterfaceUsage } from "./network.ts";
import type { ContainerMeasure, NodeStats, PodMeasure } from "./node-stats.ts";

const SECOND_NS = 1e9;

export interface MachineFacts {
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly cgroupRoot: string;
}

export function cadvisorMetrics({ atMs, usage, pods }: NodeStats, facts: MachineFacts): readonly Family[] {
  const rows = pods.flatMap((pod) => pod.containers.map((each) => ({ labels: labelsOf(pod, each, facts), each })));
  const family =
    (type: Family["type"]) =>
    (name: string, help: string, read: (each: ContainerMeasure) => number, node?: number): Family => ({
      name,
      help,
      type,
      samples: [
        ...(node === undefined ? [] : [{ labels: { ...NOBODY, id: "/" }, value: node, atMs }]),
        ...rows.map(({ labels, each }) => ({ labels, value: read(each), atMs: each.stats.timestampMs || atMs })),
      ],
    });
  const [counter, gauge] = [family("counter"), family("gauge")];
  const network = (name: string, help: string, read: (each: InterfaceUsage) => number): Family => ({
    name,
    help,
    type: "counter",
    samples: pods.flatMap((pod) => networkSamples(pod, facts, read, atMs)),
  });
  return [
    counter(
      "container_cpu_usage_seconds_total",
      "Cumulative cpu time consumed in seconds.",
      ({ stats }) => stats.cpuCoreNanoSeconds / SECOND_NS,
      usage.cpuNanoSeconds / SECOND_NS,
    ),
    gauge(
      "container_memory_usage_bytes",
      "Current memory usage in bytes, including all memory regardless of when it was accessed",
      ({ stats }) => stats.memoryUsageBytes,
      usage.memoryUsageBytes,
    ),
    gauge(
      "container_memory_working_set_bytes",
      "Current working set in bytes.",
      ({ stats }) => stats.memoryWorkingSetBytes,
      usage.memoryWorkingSetBytes,
    ),
    gauge("container_memory_rss", "Size of RSS in bytes.", ({ stats }) => stats.memoryRssBytes, usage.memoryRssBytes),
    gauge(
      "container_fs_usage_bytes",
      "Number of bytes that are consumed by the container on this filesystem.",
      ({ stats, logBytes }) => stats.writableLayerBytes + logBytes,
    ),
    gauge("container_start_time_seconds", "Start time of the container since unix epoch in seconds.", (each) =>
      Math.floor(each.container.createdAtMs / 1000),
    ),
    gauge("container_last_seen", "Last time a container was seen by the exporter", () => Math.floor(atMs / 1000)),
    network("container_network_receive_bytes_total", "Cumulative count of bytes received", ({ rxBytes }) => rxBytes),
    network(
      "container_network_receive_packets_total",
      "Cumulative count of packets received",
      ({ rxPackets }) => rxPackets,
    ),
    network(
      "container_network_receive_errors_total",
      "Cumulative count of errors encountered while receiving",
      ({ rxErrors }) => rxErrors,
    ),
    network(
      "container_network_transmit_bytes_total",
      "Cumulative count of bytes transmitted",
      ({ txBytes }) => txBytes,
    ),
    network(
      "container_network_transmit_packets_total",
      "Cumulative count of packets transmitted",
      ({ txPackets }) => txPackets,
    ),
    network(
      "container_network_transmit_errors_total",
      "Cumulative count of errors encountered while transmitting",
      ({ txErrors }) => txErrors,
    ),
    {
      name: "machine_cpu_cores",
      help: "Number of logical CPU cores.",
      type: "gauge",
      samples: [{ value: facts.cpus }],
    },
    {
      name: "machine_memory_bytes",
      help: "Amount of memory installed on the machine.",
      type: "gauge",
      samples: [{ value: facts.memoryBytes }],
    },
  ];
}

const NOBODY = { container: "", id: "", image: "", name: "", namespace: "", pod: "" };

function labelsOf({ pod }: PodMeasure, { name, container }: ContainerMeasure, { cgroupRoot }: MachineFacts) {
  return {
    container: name,
    id: join("/", podCgroup(cgroupRoot, pod), container.id),
    image: container.image,
    name: container.id,
    namespace: pod.metadata.namespace ?? "",
    pod: pod.metadata.name ?? "",
  };
}

function networkSamples(
  { pod, network }: PodMeasure,
  { cgroupRoot }: MachineFacts,
  read: (each: InterfaceUsage) => number,
  atMs: number,
): readonly FamilySample[] {
  const { namespace = "", name = "" } = pod.metadata;
  const id = join("/", podCgroup(cgroupRoot, pod));
  return network.map((each) => ({
    labels: { ...NOBODY, id, interface: each.name, namespace, pod: name },
    value: read(each),
    atMs,
  }));
}
