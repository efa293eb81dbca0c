/** The runtime of controllers. */
export { CallLog } from "./call-log.ts";
export type { Controller, ControllerContext, Enqueue, Reconciler, Source } from "./controller.ts";
export { defineController } from "./controller.ts";
export { type ControllerMetrics, controllerMetrics, type Families } from "./metrics.ts";
export { observed } from "./observed.ts";
export type { AnyResource, Failure, Outcome, Plan, Write } from "./plan.ts";
export { type ControllersOptions, runControllers } from "./run-controllers.ts";
export { selected, UnknownControllerError } from "./selection.ts";
export {
  changesOf,
  controllerKey,
  controllerOf,
  groupOf,
  keysFrom,
  type OwnerKind,
  ownedBy,
  ownersOf,
} from "./sources.ts";
