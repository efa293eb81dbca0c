/**
 * The STABLE and BETA metrics of Kubernetes v1.36: facts, in a table. A row: name, type, labels, stability, and the
 * components that have it (a: API server, c: controller manager, s: scheduler, p: proxy, k: kubelet).
 *
 * 1. Rows of the kubelet are checked on real nodes only.
 * 2. `declared`: no sample can be expected, for the reason that is given; the family is there.
 */
export type ComponentName = "apiserver" | "controller-manager" | "scheduler" | "proxy" | "kubelet";
export type MetricType = "counter" | "gauge" | "histogram";

export interface MetricRow {
  readonly name: string;
  readonly type: MetricType;
  readonly labels: readonly string[];
  readonly stability: "STABLE" | "BETA";
  readonly components: readonly ComponentName[];
}

const COMPONENTS: Readonly<Record<string, ComponentName>> = {
  a: "apiserver",
  c: "controller-manager",
  s: "scheduler",
  p: "proxy",
  k: "kubelet",
};

const ROWS = `
apiserver_admission_controller_admission_duration_seconds histogram name,operation,rejected,type STABLE a
apiserver_admission_step_admission_duration_seconds histogram operation,rejected,type STABLE a
apiserver_admission_webhook_admission_duration_seconds histogram name,operation,rejected,type STABLE a
apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds gauge apiserver_id_hash,status BETA a
apiserver_authentication_config_controller_automatic_reloads_total counter apiserver_id_hash,status BETA a
apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds gauge apiserver_id_hash,status BETA a
apiserver_authorization_config_controller_automatic_reloads_total counter apiserver_id_hash,status BETA a
apiserver_cel_compilation_duration_seconds histogram - BETA a
apiserver_cel_evaluation_duration_seconds histogram - BETA a
apiserver_current_inflight_requests gauge request_kind STABLE a
apiserver_flowcontrol_current_executing_requests gauge flow_schema,priority_level BETA a
apiserver_flowcontrol_current_executing_seats gauge flow_schema,priority_level BETA a
apiserver_flowcontrol_current_inqueue_requests gauge flow_schema,priority_level BETA a
apiserver_flowcontrol_dispatched_requests_total counter flow_schema,priority_level BETA a
apiserver_flowcontrol_nominal_limit_seats gauge priority_level BETA a
apiserver_flowcontrol_rejected_requests_total counter flow_schema,priority_level,reason BETA a
apiserver_flowcontrol_request_wait_duration_seconds histogram execute,flow_schema,priority_level BETA a
apiserver_longrunning_requests gauge component,group,resource,scope,subresource,verb,version STABLE a
apiserver_request_duration_seconds histogram component,dry_run,group,resource,scope,subresource,verb,version STABLE a
apiserver_request_total counter code,component,dry_run,group,resource,scope,subresource,verb,version STABLE a
apiserver_requested_deprecated_apis gauge group,removed_release,resource,subresource,version STABLE a
apiserver_response_sizes histogram component,group,resource,scope,subresource,verb,version STABLE a
apiserver_storage_events_received_total counter group,resource BETA a
apiserver_storage_objects gauge resource STABLE a
apiserver_storage_size_bytes gauge storage_cluster_id STABLE a
apiserver_validating_admission_policy_check_duration_seconds histogram enforcement_action,error_type,policy,policy_binding BETA a
apiserver_validating_admission_policy_check_total counter enforcement_action,error_type,policy,policy_binding BETA a
apiserver_validation_declarative_validation_mismatch_total counter - BETA a
apiserver_validation_declarative_validation_panic_total counter - BETA a
apiserver_watch_list_duration_seconds histogram group,resource,scope,version BETA a
container_cpu_usage_seconds_total counter container,namespace,pod STABLE k
container_memory_working_set_bytes gauge container,namespace,pod STABLE k
container_start_time_seconds gauge container,namespace,pod STABLE k
cronjob_controller_job_creation_skew_duration_seconds histogram - STABLE c
disabled_metrics_total counter - BETA acspk
endpoint_slice_controller_desired_endpoint_slices gauge - BETA c
endpoint_slice_controller_endpoints_added_per_sync histogram - BETA c
endpoint_slice_controller_endpoints_desired gauge - BETA c
endpoint_slice_controller_endpoints_removed_per_sync histogram - BETA c
endpoint_slice_controller_num_endpoint_slices gauge - BETA c
endpoint_slice_controller_services_count_by_traffic_distribution gauge traffic_distribution BETA c
hidden_metrics_total counter - BETA acspk
horizontal_pod_autoscaler_controller_metric_computation_duration_seconds histogram action,error,metric_type BETA c
horizontal_pod_autoscaler_controller_metric_computation_total counter action,error,metric_type BETA c
horizontal_pod_autoscaler_controller_reconciliation_duration_seconds histogram action,error BETA c
horizontal_pod_autoscaler_controller_reconciliations_total counter action,error BETA c
job_controller_job_pods_finished_total counter completion_mode,result STABLE c
job_controller_job_sync_duration_seconds histogram action,completion_mode,result STABLE c
job_controller_job_syncs_total counter action,completion_mode,result STABLE c
job_controller_jobs_finished_total counter completion_mode,reason,result STABLE c
job_controller_pod_failures_handled_by_failure_policy_total counter action BETA c
job_controller_terminated_pods_tracking_finalizer_total counter event BETA c
kube_pod_resource_limit gauge namespace,node,pod,priority,resource,scheduler,unit STABLE s
kube_pod_resource_request gauge namespace,node,pod,priority,resource,scheduler,unit STABLE s
kubelet_image_volume_mounted_errors_total counter - BETA k
kubelet_image_volume_mounted_succeed_total counter - BETA k
kubelet_image_volume_requested_total counter - BETA k
kubernetes_build_info gauge build_date,compiler,git_commit,git_tree_state,git_version,go_version,major,minor,platform BETA acspk
kubernetes_feature_enabled gauge name,stage BETA acspk
kubernetes_healthcheck gauge name,type STABLE acspk
kubernetes_healthchecks_total counter name,status,type STABLE acspk
node_collector_evictions_total counter zone STABLE c
node_cpu_usage_seconds_total counter - STABLE k
node_memory_working_set_bytes gauge - STABLE k
pod_cpu_usage_seconds_total counter namespace,pod STABLE k
pod_memory_working_set_bytes gauge namespace,pod STABLE k
prober_probe_total counter container,namespace,pod,pod_uid,probe_type,result BETA k
registered_metrics_total counter deprecated_version,stability_level BETA acspk
resource_scrape_error gauge - STABLE k
running_managed_controllers gauge manager,name BETA c
scheduler_framework_extension_point_duration_seconds histogram extension_point,profile,status STABLE s
scheduler_goroutines gauge operation BETA s
scheduler_pending_pods gauge queue STABLE s
scheduler_permit_wait_duration_seconds histogram result BETA s
scheduler_plugin_evaluation_total counter extension_point,plugin,profile BETA s
scheduler_pod_scheduling_attempts histogram - STABLE s
scheduler_pod_scheduling_sli_duration_seconds histogram attempts BETA s
scheduler_preemption_attempts_total counter - STABLE s
scheduler_preemption_victims histogram - STABLE s
scheduler_queue_incoming_pods_total counter event,queue STABLE s
scheduler_schedule_attempts_total counter profile,result STABLE s
scheduler_scheduling_attempt_duration_seconds histogram profile,result STABLE s
scheduler_unschedulable_pods gauge plugin,profile BETA s
workqueue_adds_total counter name BETA c
workqueue_depth gauge name BETA c
workqueue_longest_running_processor_seconds gauge name BETA c
workqueue_queue_duration_seconds histogram name BETA c
workqueue_retries_total counter name BETA c
workqueue_unfinished_work_seconds gauge name BETA c
workqueue_work_duration_seconds histogram name BETA c
`;

export const METRICS: readonly MetricRow[] = ROWS.trim()
  .split("\n")
  .map((line) => {
    const [name = "", type = "", labels = "", stability = "", components = ""] = line.trim().split(/ +/);
    return {
      name,
      type: type as MetricType,
      labels: labels === "-" ? [] : labels.split(","),
      stability: stability as MetricRow["stability"],
      components: [...components].map((letter) => COMPONENTS[letter]).filter((each) => each !== undefined),
    };
  });

export const declared: ReadonlyMap<string, string> = new Map([
  [
    "apiserver_flowcontrol_rejected_requests_total",
    "only an overloaded level refuses: src/apiserver/fairness tests it",
  ],
  ["scheduler_permit_wait_duration_seconds", "no plugin of the default profile makes Pods wait"],
]);
