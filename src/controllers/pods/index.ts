/** Shared by the controllers of Pods. */
export { adoption, type Claim, claim, isStillThere, release } from "./claim.ts";
export { inDeletionOrder } from "./deletion-order.ts";
export { podFromTemplate } from "./from-template.ts";
export { podsByLabels, type SelectPods } from "./label-index.ts";
export { podsByNode } from "./node-index.ts";
export { type OwnedIndexes, ownedIndexes } from "./pod-indexes.ts";
export {
  availableInMs,
  isActive,
  isAvailable,
  isEnding,
  isFinished,
  isReady,
  type Pod,
  readyCondition,
} from "./pod-state.ts";
