/**
 * From a Pod and the observed state of its containers to its status.
 *
 *     podStatus(pod, observed, now)        the whole PodStatus
 *     rejectedStatus(pod, why, now)        the status of a Pod that the node rejects
 *     statusPatch(pod, status)             a strategic merge patch for pods/status, or undefined if nothing has changed
 *     crashLoopBackOff, errImagePull, …    waiting states in upstream's words
 */
export {
  crashLoopBackOff,
  errImagePull,
  imagePullBackOff,
  podText,
  statusSummary,
} from "./messages.ts";
export type { ContainerInstance, ObservedContainer, ObservedPod } from "./observed.ts";
export { statusPatch } from "./patch.ts";
export { isFinal } from "./phase.ts";
export { podStatus, rejectedStatus } from "./pod-status.ts";
export { timestamp } from "./time.ts";
