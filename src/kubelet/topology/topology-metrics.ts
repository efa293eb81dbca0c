/** Metrics of the CPU, memory and topology manager. */
import type { Clock, MetricsRegistry } from "#base";

export interface TopologyMetrics {
  /** `seconds` ago the admission began. */
  admitted(startMs: number, isAdmitted: boolean): void;
  pinned(resource: string, isDone: boolean): void;
  /** What is shared, and what containers have for themselves, by NUMA node. */
  cpus(shared: number, exclusive: ReadonlyMap<number, number>): void;
  aligned(scope: string, boundary: string, isAligned: boolean): void;
}

export function topologyMetrics(metrics: MetricsRegistry, clock: Clock): TopologyMetrics {
  const requests = metrics.counter({
    name: "kubelet_topology_manager_admission_requests_total",
    help: "The number of admission requests where resources have to be aligned.",
    labels: [],
  });
  const errors = metrics.counter({
    name: "kubelet_topology_manager_admission_errors_total",
    help: "The number of admission request failures where resources could not be aligned.",
    labels: [],
  });
  const duration = metrics.histogram({
    name: "kubelet_topology_manager_admission_duration_ms",
    help: "Duration in milliseconds to serve a pod admission request.",
    labels: [],
    buckets: Array.from({ length: 15 }, (_, at) => 0.05 * 2 ** at),
  });
  const pins = Object.fromEntries(
    [
      ["cpu", "cpu core"],
      ["memory", "memory pages"],
    ].map(([name, what]) => [
      name,
      {
        requests: metrics.counter({
          name: `kubelet_${name}_manager_pinning_requests_total`,
          help: `The number of ${what} allocations which required pinning.`,
          labels: [],
        }),
        errors: metrics.counter({
          name: `kubelet_${name}_manager_pinning_errors_total`,
          help: `The number of ${what} allocations which required pinning failed.`,
          labels: [],
        }),
      },
    ]),
  );
  const pool = metrics.gauge({
    name: "kubelet_cpu_manager_shared_pool_size_millicores",
    help: "The size of the shared CPU pool for non-guaranteed QoS pods, in millicores.",
    labels: [],
  });
  const count = metrics.gauge({
    name: "kubelet_cpu_manager_exclusive_cpu_allocation_count",
    help: "The total number of CPUs exclusively allocated to containers running on this node",
    labels: [],
  });
  const perNuma = metrics.gauge({
    name: "kubelet_cpu_manager_allocation_per_numa",
    help: "Number of CPUs allocated per NUMA node",
    labels: ["numa_node"],
  });
  const good = metrics.counter({
    name: "kubelet_container_aligned_compute_resources_count",
    help: "Cumulative number of aligned compute resources allocated to containers by alignment type.",
    labels: ["scope", "boundary"],
  });
  const bad = metrics.counter({
    name: "kubelet_container_aligned_compute_resources_failure_count",
    help: "Cumulative number of failures to allocate aligned compute resources to containers by alignment type.",
    labels: ["scope", "boundary"],
  });
  return {
    admitted(startMs, isAdmitted) {
      requests.labels().inc();
      if (!isAdmitted) errors.labels().inc();
      duration.labels().observe(clock.monotonic() - startMs);
    },
    pinned(resource, isDone) {
      pins[resource]?.requests.labels().inc();
      if (!isDone) pins[resource]?.errors.labels().inc();
    },
    cpus(shared, exclusive) {
      pool.labels().set(shared * 1000);
      count.labels().set([...exclusive.values()].reduce((sum, each) => sum + each, 0));
      for (const [node, cpus] of exclusive) perNuma.labels(String(node)).set(cpus);
    },
    aligned: (scope, boundary, isAligned) => (isAligned ? good : bad).labels(scope, boundary).inc(),
  };
}
