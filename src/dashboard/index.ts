/** The whole public surface of dashboard. */
export type { Clusters, KnownCluster } from "./server/clusters.ts";
export type { Explain, Explained, ExplainedObject } from "./server/explain.ts";
export { type Dashboard, type DashboardOptions, startDashboard } from "./server/start.ts";
export type { Upstream } from "./server/upstream.ts";
