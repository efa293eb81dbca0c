/** Metrics of the HTTP proxy. */
import type { MetricsRegistry } from "#base";

export interface IngressMetrics {
  /** `owner`: key of the Ingress or HTTPRoute; undefined if there was no route. */
  answered(owner: string | undefined, status: number, ms: number, isWhole: boolean): void;
  retried(): void;
  reloaded(routes: number): void;
  connected(by: 1 | -1): void;
}

const BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60];

export function ingressMetrics(registry: MetricsRegistry): IngressMetrics {
  const requests = registry.counter({
    name: "k8ts_ingress_requests_total",
    help: "Requests by Ingress and status; 499 if the client disconnected first.",
    labels: ["namespace", "ingress", "status"],
  });
  const durations = registry.histogram({
    name: "k8ts_ingress_request_duration_seconds",
    help: "From a request to the end of its response.",
    labels: ["namespace", "ingress"],
    buckets: BUCKETS,
  });
  const retries = registry.counter({
    name: "k8ts_ingress_unreached_endpoints_total",
    help: "Endpoints that could not be reached.",
  });
  const reloads = registry.counter({
    name: "k8ts_ingress_reloads_total",
    help: "How often the routes were rebuilt.",
  });
  const routes = registry.gauge({ name: "k8ts_ingress_routes", help: "Number of routes." });
  const connections = registry.gauge({ name: "k8ts_ingress_connections", help: "Open client connections." });
  return {
    answered(key = "/", status, ms, isWhole) {
      const [namespace = "", ingress = ""] = key.split("/");
      requests.labels(namespace, ingress, isWhole ? String(status) : "499").inc();
      durations.labels(namespace, ingress).observe(ms / 1000);
    },
    retried: () => retries.labels().inc(),
    reloaded(count) {
      reloads.labels().inc();
      routes.labels().set(count);
    },
    connected: (by) => connections.labels().inc(by),
  };
}
