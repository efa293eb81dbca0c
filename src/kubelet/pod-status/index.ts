/**
 * From a Pod and what its node sees of its containers to the status that the node reports.
 *
 *     podStatus(pod, observed, now)        the whole PodStatus
 *     rejectedStatus(pod, why, now)        of a Pod that the node does not take
 *     statusPatch(pod, status)             the strategic merge patch for pods/status, or undefined if there is nothing to say
 *     crashLoopBackOff, errImagePull, …    reasons to wait, in the words that users know
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
