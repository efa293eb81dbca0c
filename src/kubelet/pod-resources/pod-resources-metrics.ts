/** kubelet_pod_resources_endpoint_*: calls of the PodResources API. */
import type { MetricsRegistry } from "#base";

export type Endpoint = "list" | "get_allocatable" | "get";
export type Version = "v1" | "v1alpha1";

export interface PodResourcesMetrics {
  requested(endpoint: Endpoint, version: Version): void;
  failed(endpoint: Endpoint, version: Version): void;
}

const TEXTS: Readonly<Record<Endpoint, string>> = {
  list: "List",
  get_allocatable: "GetAllocatableResources",
  get: "Get",
};

export function podResourcesMetrics(metrics: MetricsRegistry): PodResourcesMetrics {
  const counter = (name: string, help: string) =>
    metrics.counter({ name: `kubelet_pod_resources_endpoint_${name}`, help, labels: ["server_api_version"] });
  const all = counter(
    "requests_total",
    "Cumulative number of requests to the PodResource endpoint. Broken down by server api version.",
  );
  const of = (endpoint: Endpoint) => ({
    requests: counter(
      `requests_${endpoint}`,
      `Number of requests to the PodResource ${TEXTS[endpoint]} endpoint. Broken down by server api version.`,
    ),
    errors: counter(
      `errors_${endpoint}`,
      `Number of requests to the PodResource ${TEXTS[endpoint]} endpoint which returned error. Broken down by server api version.`,
    ),
  });
  const families = { list: of("list"), get_allocatable: of("get_allocatable"), get: of("get") };
  return {
    requested(endpoint, version) {
      all.labels(version).inc();
      families[endpoint].requests.labels(version).inc();
    },
    failed: (endpoint, version) => families[endpoint].errors.labels(version).inc(),
  };
}
