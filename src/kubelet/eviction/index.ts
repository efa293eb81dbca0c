/** The whole public surface of eviction. */
export { pressureProblem } from "./eviction.ts";
export { type EvictionMetrics, evictionMetrics } from "./eviction-metrics.ts";
export { type EvictorOptions, runEvictor } from "./evictor.ts";
export { runLocalStorage } from "./local-storage.ts";
export { SHUTDOWN_REJECTION, type ShutdownPeriod, shutDownPods, shutdownPeriods } from "./shutdown.ts";
export { type Threshold, type ThresholdConfig, thresholdsOf } from "./thresholds.ts";
