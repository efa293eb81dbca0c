/** The ConfigMap cluster-info. */
export type { ClusterAddress } from "./cluster-info.ts";
export { publishClusterInfo } from "./publish.ts";
