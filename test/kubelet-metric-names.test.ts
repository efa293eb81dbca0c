/**
 * The kubelet's metrics have the names, types and labels of upstream's. The table holds facts: what Kubernetes v1.36
 * documents, as far as it has a meaning here. What is STABLE or BETA stands in test/metrics/kubernetes-metrics.ts, too: both agree.
 */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { defaultFeatures, registerBuildInfo, registerFeatureMetrics } from "#api";
import { versionInfo } from "#apiserver";
import { MetricsRegistry, VirtualClock } from "#base";
import { clientMetrics } from "#client";
import { clientCertificateMetrics, serverCertificateMetrics } from "../src/kubelet/certificates/index.ts";
import { driverMetrics } from "../src/kubelet/csi/csi-metrics.ts";
import { devicePluginMetrics } from "../src/kubelet/device-plugins/index.ts";
import { draMetrics } from "../src/kubelet/devices/dra-metrics.ts";
import { evictionMetrics } from "../src/kubelet/eviction/index.ts";
import { imageMetrics } from "../src/kubelet/images/index.ts";
import { cgroupVersionMetric, nodeStartup, shutdownMetrics } from "../src/kubelet/node/index.ts";
import { plegMetrics } from "../src/kubelet/pleg/index.ts";
import { podResourcesMetrics } from "../src/kubelet/pod-resources/index.ts";
import { countPods, podMetrics } from "../src/kubelet/pods/index.ts";
import { probeMetrics } from "../src/kubelet/probes/index.ts";
import type { Runtime } from "../src/kubelet/runtime/runtime.ts";
import { countedRuntime } from "../src/kubelet/runtime/runtime-metrics.ts";
import { healthMetrics, serverMetrics } from "../src/kubelet/server/own-metrics.ts";
import type { ServedKubelet } from "../src/kubelet/server/served.ts";
import { METRICS as CADVISOR } from "../src/kubelet/server/stats/cadvisor-table.ts";
import { exposition, type Family } from "../src/kubelet/server/stats/exposition.ts";
import { resourceMetrics } from "../src/kubelet/server/stats/resource-metrics.ts";
import { topologyMetrics } from "../src/kubelet/topology/index.ts";
import { volumeOperationMetrics, volumeStatsMetrics } from "../src/kubelet/volumes/index.ts";
import { METRICS } from "./metrics/kubernetes-metrics.ts";
import { promtool, remarksOf } from "./metrics/promtool.ts";

/** `name type {labels} LEVEL`; without a level: ALPHA. */
const FACTS = `
csi_operations_seconds histogram {driver_name,grpc_status_code,method_name,migrated}
dra_grpc_operations_duration_seconds histogram {driver_name,grpc_status_code,method_name}
dra_operations_duration_seconds histogram {is_error,operation_name}
dra_resource_claims_in_use gauge {driver_name}
kubelet_active_pods gauge {static}
kubelet_admission_rejections_total counter {reason}
kubelet_certificate_manager_client_expiration_renew_errors counter {}
kubelet_certificate_manager_client_ttl_seconds gauge {}
kubelet_certificate_manager_server_rotation_seconds histogram {}
kubelet_certificate_manager_server_ttl_seconds gauge {}
kubelet_cgroup_version gauge {}
kubelet_container_aligned_compute_resources_count counter {boundary,scope}
kubelet_container_aligned_compute_resources_failure_count counter {boundary,scope}
kubelet_containers_per_pod_count histogram {}
kubelet_cpu_manager_allocation_per_numa gauge {numa_node}
kubelet_cpu_manager_exclusive_cpu_allocation_count gauge {}
kubelet_cpu_manager_pinning_errors_total counter {}
kubelet_cpu_manager_pinning_requests_total counter {}
kubelet_cpu_manager_shared_pool_size_millicores gauge {}
kubelet_desired_pods gauge {static}
kubelet_device_plugin_alloc_duration_seconds histogram {resource_name}
kubelet_device_plugin_registration_total counter {resource_name}
kubelet_eviction_stats_age_seconds histogram {eviction_signal}
kubelet_evictions counter {eviction_signal}
kubelet_first_network_pod_start_sli_duration_seconds gauge {}
kubelet_graceful_shutdown_end_time_seconds gauge {}
kubelet_graceful_shutdown_start_time_seconds gauge {}
kubelet_http_inflight_requests gauge {long_running,method,path,server_type}
kubelet_http_requests_duration_seconds histogram {long_running,method,path,server_type}
kubelet_http_requests_total counter {long_running,method,path,server_type}
kubelet_image_garbage_collected_total counter {reason}
kubelet_image_pull_duration_seconds histogram {image_size_in_bytes}
kubelet_image_volume_mounted_errors_total counter {} BETA
kubelet_image_volume_mounted_succeed_total counter {} BETA
kubelet_image_volume_requested_total counter {} BETA
kubelet_managed_ephemeral_containers gauge {}
kubelet_memory_manager_pinning_errors_total counter {}
kubelet_memory_manager_pinning_requests_total counter {}
kubelet_mirror_pods gauge {}
kubelet_node_name gauge {node}
kubelet_node_startup_duration_seconds gauge {}
kubelet_node_startup_post_registration_duration_seconds gauge {}
kubelet_node_startup_pre_kubelet_duration_seconds gauge {}
kubelet_node_startup_pre_registration_duration_seconds gauge {}
kubelet_node_startup_registration_duration_seconds gauge {}
kubelet_orphan_pod_cleaned_volumes gauge {}
kubelet_orphan_pod_cleaned_volumes_errors gauge {}
kubelet_orphaned_runtime_pods_total counter {}
kubelet_pleg_last_seen_seconds gauge {}
kubelet_pleg_relist_duration_seconds histogram {}
kubelet_pleg_relist_interval_seconds histogram {}
kubelet_pod_resources_endpoint_errors_get counter {server_api_version}
kubelet_pod_resources_endpoint_errors_get_allocatable counter {server_api_version}
kubelet_pod_resources_endpoint_errors_list counter {server_api_version}
kubelet_pod_resources_endpoint_requests_get counter {server_api_version}
kubelet_pod_resources_endpoint_requests_get_allocatable counter {server_api_version}
kubelet_pod_resources_endpoint_requests_list counter {server_api_version}
kubelet_pod_resources_endpoint_requests_total counter {server_api_version}
kubelet_pod_start_duration_seconds histogram {}
kubelet_pod_start_sli_duration_seconds histogram {}
kubelet_pod_start_total_duration_seconds histogram {}
kubelet_pod_status_sync_duration_seconds histogram {}
kubelet_pod_worker_duration_seconds histogram {operation_type}
kubelet_pod_worker_start_duration_seconds histogram {}
kubelet_run_podsandbox_duration_seconds histogram {runtime_handler}
kubelet_run_podsandbox_errors_total counter {runtime_handler}
kubelet_running_containers gauge {container_state}
kubelet_running_pods gauge {}
kubelet_runtime_operations_duration_seconds histogram {operation_type}
kubelet_runtime_operations_errors_total counter {operation_type}
kubelet_runtime_operations_total counter {operation_type}
kubelet_server_expiration_renew_errors counter {}
kubelet_started_containers_errors_total counter {code,container_type}
kubelet_started_containers_total counter {container_type}
kubelet_started_pods_errors_total counter {}
kubelet_started_pods_total counter {}
kubelet_topology_manager_admission_duration_ms histogram {}
kubelet_topology_manager_admission_errors_total counter {}
kubelet_topology_manager_admission_requests_total counter {}
kubelet_volume_metric_collection_duration_seconds histogram {metric_source}
kubelet_volume_stats_available_bytes gauge {namespace,persistentvolumeclaim}
kubelet_volume_stats_capacity_bytes gauge {namespace,persistentvolumeclaim}
kubelet_volume_stats_health_status_abnormal gauge {namespace,persistentvolumeclaim}
kubelet_volume_stats_inodes gauge {namespace,persistentvolumeclaim}
kubelet_volume_stats_inodes_free gauge {namespace,persistentvolumeclaim}
kubelet_volume_stats_inodes_used gauge {namespace,persistentvolumeclaim}
kubelet_volume_stats_used_bytes gauge {namespace,persistentvolumeclaim}
kubelet_working_pods gauge {config,lifecycle,static}
kubernetes_build_info gauge {build_date,compiler,git_commit,git_tree_state,git_version,go_version,major,minor,platform} BETA
kubernetes_feature_enabled gauge {name,stage} BETA
kubernetes_healthcheck gauge {name,type} STABLE
kubernetes_healthchecks_total counter {name,status,type} STABLE
prober_probe_duration_seconds histogram {container,namespace,pod,probe_type}
prober_probe_total counter {container,namespace,pod,pod_uid,probe_type,result} BETA
rest_client_request_duration_seconds histogram {host,verb}
rest_client_request_size_bytes histogram {host,verb}
rest_client_requests_total counter {code,host,method}
rest_client_response_size_bytes histogram {host,verb}
storage_operation_duration_seconds histogram {migrated,operation_name,status,volume_plugin}
`;

/** Of /metrics/resource. */
const RESOURCE_FACTS = `
container_cpu_usage_seconds_total counter {container,namespace,pod} STABLE
container_memory_working_set_bytes gauge {container,namespace,pod} STABLE
container_start_time_seconds gauge {container,namespace,pod} STABLE
container_swap_limit_bytes gauge {container,namespace,pod}
container_swap_usage_bytes gauge {container,namespace,pod}
node_cpu_usage_seconds_total counter {} STABLE
node_memory_working_set_bytes gauge {} STABLE
node_swap_usage_bytes gauge {}
pod_cpu_usage_seconds_total counter {namespace,pod} STABLE
pod_memory_working_set_bytes gauge {namespace,pod} STABLE
pod_swap_usage_bytes gauge {namespace,pod}
resource_scrape_error gauge {} STABLE
`;

/** Of /metrics/cadvisor, with cAdvisor's types. */
const CADVISOR_FACTS = {
  counter: `container_blkio_device_usage_total container_cpu_cfs_periods_total container_cpu_cfs_throttled_periods_total
    container_cpu_cfs_throttled_seconds_total container_cpu_system_seconds_total container_cpu_usage_seconds_total
    container_cpu_user_seconds_total container_fs_reads_bytes_total container_fs_reads_total
    container_fs_writes_bytes_total container_fs_writes_total container_memory_failcnt container_memory_failures_total
    container_network_receive_bytes_total container_network_receive_errors_total
    container_network_receive_packets_dropped_total container_network_receive_packets_total
    container_network_transmit_bytes_total container_network_transmit_errors_total
    container_network_transmit_packets_dropped_total container_network_transmit_packets_total
    container_oom_events_total container_pressure_cpu_stalled_seconds_total
    container_pressure_cpu_waiting_seconds_total container_pressure_io_stalled_seconds_total
    container_pressure_io_waiting_seconds_total container_pressure_memory_stalled_seconds_total
    container_pressure_memory_waiting_seconds_total`,
  gauge: `container_file_descriptors container_fs_inodes_free container_fs_inodes_total container_fs_limit_bytes
    container_fs_usage_bytes container_last_seen container_memory_cache container_memory_kernel_usage
    container_memory_mapped_file container_memory_max_usage_bytes container_memory_rss container_memory_swap
    container_memory_total_active_file_bytes container_memory_total_inactive_file_bytes container_memory_usage_bytes
    container_memory_working_set_bytes container_processes container_sockets container_spec_cpu_period
    container_spec_cpu_quota container_spec_cpu_shares container_spec_memory_limit_bytes
    container_spec_memory_reservation_limit_bytes container_spec_memory_swap_limit_bytes
    container_start_time_seconds container_threads container_threads_max`,
} as const;

const OF_THE_REGISTRY = /^(registered|disabled|hidden)_metrics_total$|^cardinality_enforcement/;

function rows(facts: string): readonly string[] {
  return facts.split("\n").filter((line) => line !== "");
}

/** What the kubelet declares, in the form of the table, and its page with a sample of each family. */
function declared(): { readonly rows: readonly string[]; readonly page: string } {
  const found = new Map<string, string>();
  type Any = Parameters<MetricsRegistry["counter"]>[0];
  const note = (type: string, { name, labels = [], stability }: Any) =>
    found.set(name, row(name, type, [...labels], stability));
  const sampled = <F extends { labels(...values: readonly string[]): unknown }>(family: F, { labels = [] }: Any): F => {
    family.labels(...labels.map((label) => `a ${label}`));
    return family;
  };
  class Spy extends MetricsRegistry {
    override counter<const L extends readonly string[] = []>(options: Any) {
      note("counter", options);
      return sampled(super.counter<L>(options as never) as never, options) as never;
    }
    override gauge<const L extends readonly string[] = []>(options: Any) {
      note("gauge", options);
      return sampled(super.gauge<L>(options as never) as never, options) as never;
    }
    override histogram<const L extends readonly string[] = []>(options: Any) {
      note("histogram", options);
      return sampled(super.histogram<L>(options as never) as never, options) as never;
    }
  }
  const [metrics, clock] = [new Spy(), new VirtualClock()];
  registerFeatureMetrics(metrics, defaultFeatures);
  registerBuildInfo(metrics, versionInfo());
  clientMetrics(metrics, clock);
  clientCertificateMetrics(metrics, clock);
  serverCertificateMetrics(metrics, clock);
  driverMetrics(metrics, clock);
  draMetrics(metrics, clock, () => new Map([["<any>", 0]]));
  devicePluginMetrics(metrics);
  podResourcesMetrics(metrics);
  evictionMetrics(metrics);
  topologyMetrics(metrics, clock);
  imageMetrics(metrics);
  cgroupVersionMetric(metrics, 2);
  nodeStartup(metrics, clock, { machineMs: 0, kubeletMs: 0 });
  shutdownMetrics(metrics, clock);
  plegMetrics(metrics);
  podMetrics(metrics, clock);
  countPods(metrics, { workers: { list: () => [], active: () => [] }, mirrors: () => [] });
  probeMetrics(metrics);
  countedRuntime({ images: {} } as unknown as Runtime, metrics, clock);
  serverMetrics(metrics, { config: { nodeName: "n" }, pods: () => [] } as unknown as ServedKubelet, clock);
  healthMetrics(metrics);
  volumeOperationMetrics(metrics, clock);
  volumeStatsMetrics(metrics, { pods: () => [], kept: () => [] }, true);
  const rows = [...found].flatMap(([name, text]) => (OF_THE_REGISTRY.test(name) ? [] : [text])).sort();
  return { rows, page: metrics.text() };
}

function row(name: string, type: string, labels: readonly string[], level = ""): string {
  return `${name} ${type} {${[...labels].sort().join()}} ${level === "ALPHA" ? "" : level}`.trim();
}

it("the kubelet declares what the table has, and nothing else", () => {
  expect(declared().rows).toEqual([...rows(FACTS)].sort());
});

function resourceFamilies(): readonly Family[] {
  const usage = { cpuNanoSeconds: 1, memoryWorkingSetBytes: 1, swapBytes: 1, swapAvailableBytes: 1 };
  const container = {
    name: "c",
    usage,
    container: { createdAtMs: 1 },
    stats: { timestampMs: 1, cpuCoreNanoSeconds: 1, memoryWorkingSetBytes: 1 },
  };
  const pod = { pod: { metadata: { name: "p", namespace: "n" } }, usage, containers: [container] };
  return resourceMetrics({ atMs: 1, usage, pods: [pod] });
}

it("/metrics/resource has what the table has", () => {
  const shown = resourceFamilies().map(({ name, type, help, samples }) => {
    const level = /^\[(\w+)\]/.exec(help)?.[1];
    return row(name, type, Object.keys(samples[0]?.labels ?? {}), level);
  });
  expect(shown.sort()).toEqual([...rows(RESOURCE_FACTS)].sort());
});

it.each(["counter", "gauge"] as const)("/metrics/cadvisor has each %s of the table", (type) => {
  const shown = CADVISOR.filter((metric) => metric.type === type).map(({ name }) => name);
  expect(shown.sort()).toEqual(CADVISOR_FACTS[type].split(/\s+/).sort());
});

it("what is STABLE or BETA is the same in the table of all components", () => {
  const own = [...rows(FACTS), ...rows(RESOURCE_FACTS)].filter((line) => /(STABLE|BETA)$/.test(line)).sort();
  const ofKubelet = METRICS.filter(
    ({ name, components }) => components.includes("kubelet") && !OF_THE_REGISTRY.test(name),
  );
  const shared = ofKubelet.map(({ name, type, labels, stability }) => row(name, type, labels, stability)).sort();
  expect(own).toEqual(shared);
});

describe.skipIf(promtool === undefined)("promtool (of Prometheus) finds nothing wrong", () => {
  const cadvisor = CADVISOR.map(({ name, help, type }) => ({
    name,
    help,
    type,
    samples: [{ labels: { id: "/" }, value: 1 }],
  }));
  it.each([
    ["/metrics", () => declared().page],
    ["/metrics/resource", () => exposition(resourceFamilies())],
    ["/metrics/cadvisor", () => exposition(cadvisor)],
  ])("with %s", (_, page) => expect(remarksOf(page())).toEqual([]));
});

const REFERENCE = new URL("../../shared/reference/stable-metrics.txt", import.meta.url);
const OWN = /^(kubelet_|container_|node_(cpu|memory)|pod_(cpu|memory)|resource_|prober_|kubernetes_)/;

describe.skipIf(!existsSync(REFERENCE))("compared with the reference", () => {
  it("every STABLE and BETA metric of the kubelet is in the table, with its labels and its level", () => {
    const ours = new Map([...rows(FACTS), ...rows(RESOURCE_FACTS)].map((line) => [line.split(" ")[0], line]));
    const lines = readFileSync(REFERENCE, "utf8").split("\n");
    const theirs = lines.flatMap((line) => {
      const [, name = "", type = "", labels = "", level = ""] = /^(\w+)\s+(\w+) \{([^}]*)\} (\w+)$/.exec(line) ?? [];
      return OWN.test(name) ? [{ name, type, labels: labels.split(",").sort().join(), level }] : [];
    });
    expect(theirs.length).toBeGreaterThan(12);
    for (const { name, type, labels, level } of theirs) {
      const own = ours.get(name) ?? name;
      expect(own).toContain(`{${labels}} ${level}`);
      if (type !== "Custom") expect(own).toContain(` ${type.toLowerCase()} `);
    }
  });
});
