/** GET /metrics/resource: CPU and memory of the node, its Pods and containers, for `kubectl top`. */
import type { core } from "#api";
import type { Family, FamilySample } from "./exposition.ts";

/** What is shown of a node: of `NodeStats`, and of nodes without containers. */
export interface ResourceFigures {
  readonly atMs: number;
  readonly usage: Usage;
  readonly pods: readonly PodFigures[];
}

interface Usage {
  readonly cpuNanoSeconds: number;
  readonly memoryWorkingSetBytes: number;
  readonly swapBytes?: number | undefined;
  readonly swapAvailableBytes?: number | undefined;
}

interface PodFigures {
  readonly pod: core.Pod;
  /** Undefined if it has no cgroup of its own. */
  readonly usage: Usage | undefined;
  readonly containers: readonly ContainerFigures[];
}

interface ContainerFigures {
  readonly name: string;
  readonly usage?: Usage | undefined;
  readonly container: { readonly createdAtMs: number };
  readonly stats: {
    readonly timestampMs: number;
    readonly cpuCoreNanoSeconds: number;
    readonly memoryWorkingSetBytes: number;
  };
}

const SECOND_NS = 1e9;

export function resourceMetrics({ atMs, usage, pods }: ResourceFigures): readonly Family[] {
  const node = (value: number | undefined) => (value === undefined ? [] : [{ value, atMs }]);
  const ofPods = (read: (pod: PodFigures) => number | undefined) =>
    pods.flatMap((pod): FamilySample[] => {
      const value = read(pod);
      return value === undefined ? [] : [{ labels: podLabels(pod), value, atMs }];
    });
  const ofContainers = (read: (each: ContainerFigures) => number | undefined, isTimed = true) =>
    pods.flatMap((pod) =>
      pod.containers.flatMap((each): FamilySample[] => {
        const value = read(each);
        const time = isTimed && { atMs: each.stats.timestampMs || atMs };
        return value === undefined ? [] : [{ labels: { container: each.name, ...podLabels(pod) }, value, ...time }];
      }),
    );
  return [
    {
      name: "container_cpu_usage_seconds_total",
      help: "[STABLE] Cumulative cpu time consumed by the container in core-seconds",
      type: "counter",
      samples: ofContainers(({ stats }) => stats.cpuCoreNanoSeconds / SECOND_NS),
    },
    {
      name: "container_memory_working_set_bytes",
      help: "[STABLE] Current working set of the container in bytes",
      type: "gauge",
      samples: ofContainers(({ stats }) => stats.memoryWorkingSetBytes),
    },
    {
      name: "container_start_time_seconds",
      help: "[STABLE] Start time of the container since unix epoch in seconds",
      type: "gauge",
      samples: ofContainers(({ container }) => container.createdAtMs / 1000, false),
    },
    {
      name: "container_swap_limit_bytes",
      help: "[ALPHA] How much swap the container may use. Reported only on non-windows systems",
      type: "gauge",
      samples: ofContainers(({ usage: own }) => swapLimit(own)),
    },
    {
      name: "container_swap_usage_bytes",
      help: "[ALPHA] Swap that the container uses. Reported only on non-windows systems",
      type: "gauge",
      samples: ofContainers(({ usage: own }) => own?.swapBytes),
    },
    {
      name: "node_cpu_usage_seconds_total",
      help: "[STABLE] Cumulative cpu time consumed by the node in core-seconds",
      type: "counter",
      samples: node(usage.cpuNanoSeconds / SECOND_NS),
    },
    {
      name: "node_memory_working_set_bytes",
      help: "[STABLE] Current working set of the node in bytes",
      type: "gauge",
      samples: node(usage.memoryWorkingSetBytes),
    },
    {
      name: "node_swap_usage_bytes",
      help: "[ALPHA] Swap that the node uses. Reported only on non-windows systems",
      type: "gauge",
      samples: node(usage.swapBytes),
    },
    {
      name: "pod_cpu_usage_seconds_total",
      help: "[STABLE] Cumulative cpu time consumed by the pod in core-seconds",
      type: "counter",
      samples: ofPods((pod) => pod.usage && pod.usage.cpuNanoSeconds / SECOND_NS),
    },
    {
      name: "pod_memory_working_set_bytes",
      help: "[STABLE] Current working set of the pod in bytes",
      type: "gauge",
      samples: ofPods((pod) => pod.usage?.memoryWorkingSetBytes),
    },
    {
      name: "pod_swap_usage_bytes",
      help: "[ALPHA] Swap that the pod uses. Reported only on non-windows systems",
      type: "gauge",
      samples: ofPods((pod) => pod.usage?.swapBytes),
    },
    scrapeError(0),
  ];
}

function swapLimit(usage: Usage | undefined): number | undefined {
  if (usage?.swapAvailableBytes === undefined) return undefined;
  return usage.swapAvailableBytes + (usage.swapBytes ?? 0);
}

/** All that is shown when nothing could be measured. */
export function failedResourceMetrics(): readonly Family[] {
  return [scrapeError(1)];
}

function scrapeError(value: 0 | 1): Family {
  return {
    name: "resource_scrape_error",
    help: "[STABLE] 1 if there was an error while getting container metrics, 0 otherwise",
    type: "gauge",
    samples: [{ value }],
  };
}

function podLabels({ pod }: PodFigures): { namespace: string; pod: string } {
  return { namespace: pod.metadata.namespace ?? "", pod: pod.metadata.name ?? "" };
}
