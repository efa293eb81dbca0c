/** The whole public surface of metrics. */
export { type AdapterConfig, AdapterConfigError, parseAdapterConfig } from "./adapter/config.ts";
export { DEFAULT_RELIST_MS, MetricsAdapter, type MetricsAdapterOptions } from "./adapter/metrics-adapter.ts";
export { PrometheusClient, type PrometheusOptions } from "./adapter/prometheus-client.ts";
export { registerAdapter } from "./adapter/register.ts";
export type { MetricsAnswer, MetricsRequest } from "./api/answer.ts";
export { API_VERSION, GROUP as METRICS_GROUP, type NodeMetrics, type PodMetrics } from "./api/objects.ts";
export { DEFAULT_RESOLUTION_MS, MetricsServer, type MetricsServerOptions } from "./metrics-server.ts";
export { registerMetrics, type ServiceName } from "./register.ts";
export { ADDRESS_TYPES, type KubeletScraper, kubeletScraper } from "./scrape/kubelet-scraper.ts";
export { isSimulated, type Scraper } from "./scrape/scraper.ts";
