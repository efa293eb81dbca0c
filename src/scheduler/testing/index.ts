/** Test tools of the scheduler. */
export * from "./builders.ts";
export * from "./plain/index.ts";
export { type RandomCluster, type RandomSizes, randomCluster } from "./random-cluster.ts";
