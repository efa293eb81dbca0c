/** Counts the calls to a runtime: kubelet_runtime_operations_*, and those that run sandboxes. */
import type { Clock, MetricsRegistry } from "#base";
import { bound } from "./bound.ts";
import { exponential, SECONDS } from "./buckets.ts";
import type { ImageService, Runtime } from "./runtime.ts";

/** Upstream's names of the calls. */
const OPERATIONS: Readonly<Partial<Record<keyof Runtime, string>>> = {
  version: "version",
  status: "status",
  runPodSandbox: "run_podsandbox",
  stopPodSandbox: "stop_podsandbox",
  removePodSandbox: "remove_podsandbox",
  podSandboxStatus: "podsandbox_status",
  listPodSandboxes: "list_podsandbox",
  createContainer: "create_container",
  startContainer: "start_container",
  stopContainer: "stop_container",
  removeContainer: "remove_container",
  containerStatus: "container_status",
  listContainers: "list_containers",
  updateContainerResources: "update_container",
  checkpointContainer: "checkpoint_container",
  reopenContainerLog: "reopen_container_log",
  execSync: "exec_sync",
  exec: "exec",
  attach: "attach",
  portForward: "port_forward",
  listContainerStats: "list_container_stats",
};
const IMAGE_OPERATIONS: Readonly<Partial<Record<keyof ImageService, string>>> = {
  list: "list_images",
  status: "image_status",
  pull: "pull_image",
  remove: "remove_image",
  filesystemUsage: "image_fs_info",
};

export function countedRuntime(runtime: Runtime, metrics: MetricsRegistry, clock: Clock): Runtime {
  const counted = counting(metrics, clock);
  const sandboxes = sandboxMetrics(metrics, clock);
  const all = { ...bound(runtime), ...counted(runtime, OPERATIONS) };
  return {
    ...all,
    runPodSandbox: (config, handler, signal) => sandboxes(handler, () => all.runPodSandbox(config, handler, signal)),
    images: { ...bound(runtime.images), ...counted(runtime.images, IMAGE_OPERATIONS) },
  };
}

type Method = (...args: readonly unknown[]) => Promise<unknown>;

function counting(metrics: MetricsRegistry, clock: Clock) {
  const labels = ["operation_type"] as const;
  const total = metrics.counter({
    name: "kubelet_runtime_operations_total",
    help: "Cumulative number of runtime operations by operation type.",
    labels,
  });
  const duration = metrics.histogram({
    name: "kubelet_runtime_operations_duration_seconds",
    help: "Duration in seconds of runtime operations. Broken down by operation type.",
    labels,
    buckets: exponential(0.005, 2.5, 14),
  });
  const errors = metrics.counter({
    name: "kubelet_runtime_operations_errors_total",
    help: "Cumulative number of runtime operation errors by operation type.",
    labels,
  });
  return <T extends object>(target: T, operations: Readonly<Partial<Record<keyof T, string>>>): Partial<T> => {
    const methods = Object.entries(operations as Readonly<Record<string, string>>).map(([method, operation]) => {
      const call = (target as Readonly<Record<string, Method>>)[method]?.bind(target);
      const counted: Method = async (...args) => {
        const startMs = clock.monotonic();
        total.labels(operation).inc();
        try {
          return await call?.(...args);
        } catch (error) {
          errors.labels(operation).inc();
          throw error;
        } finally {
          duration.labels(operation).observe((clock.monotonic() - startMs) / 1000);
        }
      };
      return [method, counted];
    });
    return Object.fromEntries(methods) as Partial<T>;
  };
}

function sandboxMetrics(metrics: MetricsRegistry, clock: Clock) {
  const duration = metrics.histogram({
    name: "kubelet_run_podsandbox_duration_seconds",
    help: "Duration in seconds of the run_podsandbox operations. Broken down by RuntimeClass.Handler.",
    labels: ["runtime_handler"],
    buckets: SECONDS,
  });
  const errors = metrics.counter({
    name: "kubelet_run_podsandbox_errors_total",
    help: "Cumulative number of the run_podsandbox operation errors by RuntimeClass.Handler.",
    labels: ["runtime_handler"],
  });
  const started = metrics.counter({ name: "kubelet_started_pods_total", help: "Cumulative number of pods started" });
  const failed = metrics.counter({
    name: "kubelet_started_pods_errors_total",
    help: "Cumulative number of errors when starting pods",
  });
  return async <T>(handler: string, run: () => Promise<T>): Promise<T> => {
    const startMs = clock.monotonic();
    started.labels().inc();
    try {
      return await run();
    } catch (error) {
      failed.labels().inc();
      errors.labels(handler).inc();
      throw error;
    } finally {
      duration.labels(handler).observe((clock.monotonic() - startMs) / 1000);
    }
  };
}
