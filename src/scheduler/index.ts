/** The whole public surface of scheduler. */
import { type ReadConfiguration, readConfiguration as read, readNothing } from "./configuration/index.ts";
import { ALL_PLUGINS } from "./plugins/index.ts";

export { configz, type ReadConfiguration } from "./configuration/index.ts";
export { type Explanation, Explanations } from "./cycle/explanations.ts";
export { type SchedulerMetrics, schedulerMetrics } from "./cycle/metrics.ts";
export { ConfigurationError, type SchedulerConfiguration } from "./framework/index.ts";
export { claimForExtended, explainClaim } from "./plugins/dynamic-resources/explain-claim.ts";
export { podResourcesText } from "./pod-resources.ts";
export { runScheduler, type SchedulerOptions } from "./run-scheduler.ts";

/** A `KubeSchedulerConfiguration`; `readFile` is for the files that it names. Throws ConfigurationError. */
export function readConfiguration(content: string, readFile: (path: string) => string): ReadConfiguration {
  return read(content, { factories: ALL_PLUGINS, readFile });
}

/** The configuration without a file. */
export function defaultRead(): ReadConfiguration {
  return readNothing(ALL_PLUGINS);
}
