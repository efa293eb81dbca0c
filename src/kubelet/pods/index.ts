/** The whole public surface of pods: from a Pod on this node to its containers, and back to its status. */
export type { KillAction, PodActions, PodActionsInput, StartAction } from "./actions.ts";
export { Orphans } from "./orphans.ts";
export type * from "./parts.ts";
export { podActions } from "./pod-actions.ts";
export { countPods } from "./pod-counts.ts";
export { type PodMetrics, podMetrics } from "./pod-metrics.ts";
export { type PodState, PodWorker } from "./pod-worker.ts";
export { PodWorkers } from "./pod-workers.ts";
export { lookAtPod, newest, type RuntimePod, runningContainers } from "./runtime-pod.ts";
export { CONFIG_HASH, CONFIG_MIRROR, isMirror } from "./sources/index.ts";
export { staticPods } from "./static-pods.ts";
export { StatusWriter } from "./status-writer.ts";
export { UserNamespaces } from "./user-namespaces.ts";
