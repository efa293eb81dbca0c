/** `k8ts/testing`: whole clusters in a test's process, on virtual time. */
export { startCluster, TestCluster } from "./cluster/cluster.ts";
export { type Limits, NeverHappened } from "./cluster/eventually.ts";
export type { ClusterOptions, ImageScript } from "./cluster/options.ts";
export { TestClock } from "./cluster/test-clock.ts";
