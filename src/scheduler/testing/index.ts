/** What tests of the scheduler share. */
export * from "./builders.ts";
export * from "./plain/index.ts";
export { type RandomCluster, type RandomSizes, randomCluster } from "./random-cluster.ts";
