/** The whole public surface of the kubelet's server. */

export { SERVED_PATHS } from "./own-metrics.ts";
export { type ServeOptions, serveKubelet } from "./serve.ts";
export type { Page, Served, ServedKubelet } from "./served.ts";
export { type KubeletServer, type KubeletServerOptions, startKubeletServer } from "./server.ts";
export { exposition } from "./stats/exposition.ts";
export { type ResourceFigures, resourceMetrics } from "./stats/resource-metrics.ts";
