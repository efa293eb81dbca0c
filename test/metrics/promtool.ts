/** Prometheus' own check of a page of metrics: its remarks, without those on names that Kubernetes has. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");

export const promtool = program("promtool");

/** Names that Kubernetes or cAdvisor has, and promtool would rather have otherwise. */
const DISLIKED = [
  "apiserver_flowcontrol_latest_s",
  "apiserver_flowcontrol_next_discounted_s_bounds",
  "apiserver_flowcontrol_next_s_bounds",
  "authenticated_user_requests",
  "authentication_attempts",
  "authentication_token_cache_active_fetch_count",
  "apiserver_admission_webhook_fail_open_count",
  "apiserver_admission_webhook_rejection_count",
  "endpoint_slice_controller_changes",
  "endpoint_slice_controller_syncs",
  "kubelet_certificate_manager_client_expiration_renew_errors",
  "kubelet_container_aligned_compute_resources_count",
  "kubelet_container_aligned_compute_resources_failure_count",
  "kubelet_cpu_manager_exclusive_cpu_allocation_count",
  "kubelet_evictions",
  "kubelet_pod_resources_endpoint_errors_get",
  "kubelet_pod_resources_endpoint_errors_get_allocatable",
  "kubelet_pod_resources_endpoint_errors_list",
  "kubelet_pod_resources_endpoint_requests_get",
  "kubelet_pod_resources_endpoint_requests_get_allocatable",
  "kubelet_pod_resources_endpoint_requests_list",
  "kubelet_server_expiration_renew_errors",
  "kubelet_topology_manager_admission_duration_ms",
  "cadvisor_version_info",
  "container_fs_inodes_total",
  "container_memory_failcnt",
];

export function remarksOf(page: string): readonly string[] {
  if (promtool === undefined) throw new Error("promtool is missing");
  const { stdout, stderr, error } = spawnSync(promtool, ["check", "metrics"], { input: page, encoding: "utf8" });
  if (error !== undefined) throw error;
  const remarks = `${stdout}${stderr}`.split("\n").filter((line) => line !== "");
  return remarks.filter((line) => !DISLIKED.includes(line.split(" ")[0] ?? ""));
}

/** Of Debian's packages in .tools, or of the PATH. */
export function program(name: string): string | undefined {
  const places = [join(ROOT, ".tools", "prometheus", "usr", "bin"), ...(process.env.PATH ?? "").split(":")];
  return places.map((dir) => join(dir, name)).find((file) => existsSync(file));
}
