/** Metrics of the kubelet's server: requests by path, and the numbers of Pods and containers. */
import type { core } from "#api";
import type { MetricsRegistry } from "#base";
import type { ServedKubelet } from "./served.ts";

/** Paths that are counted by name; all others are counted as one. */
const COUNTED = new Set(
  "containerLogs exec attach portForward run pods runningpods healthz configz stats metrics checkpoint logs".split(" "),
);
const LASTING = new Set(["containerLogs", "exec", "attach", "portForward"]);

export function serverMetrics(
  metrics: MetricsRegistry,
  kubelet: ServedKubelet,
): { count(method: string, path: string): void } {
  const requests = metrics.counter({
    name: "kubelet_http_requests_total",
    help: "Number of the http requests received since the server started",
    labels: ["long_running", "method", "path", "server_type"],
  });
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
  return {
    count(method, path) {
      const [, first = ""] = path.split("/");
      const known = COUNTED.has(first) ? first : "other";
      requests.labels(String(LASTING.has(first)), method, known, "readwrite").inc();
    },
  };
}

function statusesOf({ status }: core.Pod): readonly core.ContainerStatus[] {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {};
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
}
