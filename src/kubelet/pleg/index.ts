/** The whole public surface of pleg. */
export { changedPods, type Listing, type Relisted, relisted } from "./changes.ts";
export { Pleg, type PlegOptions } from "./pleg.ts";
export { type PlegObserver, plegMetrics } from "./pleg-metrics.ts";
