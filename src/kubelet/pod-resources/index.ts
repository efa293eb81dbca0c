/** The whole public surface of pod-resources. */
export { podResourcesMethods } from "./messages.ts";
export type { ExclusiveResources, MemoryBlock, PodResourcesSource } from "./pod-resources.ts";
export { podResourcesMetrics } from "./pod-resources-metrics.ts";
export { servePodResources } from "./serve.ts";
