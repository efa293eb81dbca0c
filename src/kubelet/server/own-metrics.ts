/** Metrics of the kubelet's server: requests by path, health checks, and the numbers of Pods and containers. */
import type { core } from "#api";
import type { Clock, MetricsRegistry } from "#base";
import { SECONDS } from "../runtime/buckets.ts";
import type { ServedKubelet } from "./served.ts";

/** The first parts of the paths that are served. They are counted by name; all others are counted as one. */
const SERVED =
  "attach checkpoint configz containerLogs exec flagz healthz logs metrics pods portForward run runningpods stats statusz";
const COUNTED = new Set(SERVED.split(" "));
const OF_METRICS = ["cadvisor", "probes", "resource", "slis"].map((name) => `/metrics/${name}`);

/** As /statusz lists them. */
export const SERVED_PATHS: readonly string[] = [...[...COUNTED].map((first) => `/${first}`), ...OF_METRICS].sort();

const LASTING = new Set(["containerLogs", "exec", "attach", "portForward"]);
const LABELS = ["long_running", "method", "path", "server_type"] as const;

export interface ServerMetrics {
  /** A request has come; the function returned is called at its end. */
  begun(method: string, path: string): () => void;
}

export function serverMetrics(metrics: MetricsRegistry, kubelet: ServedKubelet, clock: Clock): ServerMetrics {
  const requests = metrics.counter({
    name: "kubelet_http_requests_total",
    help: "Number of the http requests received since the server started",
    labels: LABELS,
  });
  const duration = metrics.histogram({
    name: "kubelet_http_requests_duration_seconds",
    help: "Duration in seconds to serve http requests",
    labels: LABELS,
    buckets: SECONDS,
  });
  const inFlight = metrics.gauge({
    name: "kubelet_http_inflight_requests",
    help: "Number of the inflight http requests",
    labels: LABELS,
  });
  countRunning(metrics, kubelet);
  return {
    begun(method, path) {
      const [, first = ""] = path.split("/");
      const known = COUNTED.has(first) ? first : "other";
      const labels = [String(LASTING.has(first)), method, known, "readwrite"] as const;
      const startMs = clock.monotonic();
      requests.labels(...labels).inc();
      inFlight.labels(...labels).inc();
      return () => {
        inFlight.labels(...labels).dec();
        duration.labels(...labels).observe((clock.monotonic() - startMs) / 1000);
      };
    },
  };
}

export type HealthObserver = (check: string, isHealthy: boolean) => void;

export function healthMetrics(metrics: MetricsRegistry): HealthObserver {
  const result = metrics.gauge({
    name: "kubernetes_healthcheck",
    help: "The last result of each health check: 1 is healthy.",
    labels: ["name", "type"],
    stability: "STABLE",
  });
  const total = metrics.counter({
    name: "kubernetes_healthchecks_total",
    help: "Health checks that were made, by their result.",
    labels: ["name", "status", "type"],
    stability: "STABLE",
  });
  return (check, isHealthy) => {
    result.labels(check, "healthz").set(isHealthy ? 1 : 0);
    total.labels(check, isHealthy ? "success" : "error", "healthz").inc();
  };
}

function countRunning(metrics: MetricsRegistry, kubelet: ServedKubelet): void {
  const name = metrics.gauge({
    name: "kubelet_node_name",
    help: "The node's name. The count is always 1.",
    labels: ["node"],
  });
  const pods = metrics.gauge({ name: "kubelet_running_pods", help: "Number of pods that have a running pod sandbox" });
  const containers = metrics.gauge({
    name: "kubelet_running_containers",
    help: "Number of containers currently running",
    labels: ["container_state"],
  });
  metrics.collect(() => {
    const all = kubelet.pods();
    name.labels(kubelet.config.nodeName).set(1);
    pods.labels().set(all.filter(({ status }) => status?.phase === "Running").length);
    const count = (state: keyof core.ContainerState) =>
      all.flatMap(statusesOf).filter((each) => each.state?.[state]).length;
    containers.labels("running").set(count("running"));
    containers.labels("exited").set(count("terminated"));
  });
}

function statusesOf({ status }: core.Pod): readonly core.ContainerStatus[] {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {};
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
}
