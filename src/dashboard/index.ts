/** The whole public surface of dashboard. */
export type { ClusterReport, DescribeCluster, ReportedMember } from "./server/cluster.ts";
export type { Clusters, KnownCluster } from "./server/clusters.ts";
export type { Explain, Explained, ExplainedObject } from "./server/explain.ts";
export { type Dashboard, type DashboardOptions, startDashboard } from "./server/start.ts";
export type { Upstream } from "./server/upstream.ts";
