/** What a machine that wants to join may know. */
export type { ClusterAddress } from "./cluster-info.ts";
export { publishClusterInfo } from "./publish.ts";
