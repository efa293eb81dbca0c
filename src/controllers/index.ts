/** The whole public surface of controllers. */
export { allControllers, type ClusterFacts, type ControllerLimits } from "./all-controllers.ts";
export type { AttachDetachSettings } from "./attach-detach/index.ts";
export { type ClusterAddress, publishClusterInfo } from "./cluster-info/index.ts";
export { electionControllers } from "./coordinated-election/index.ts";
export {
  type AutoscalerSettings,
  type ExplainedMetric,
  type Explanation,
  explainAutoscaler,
} from "./horizontal-pod-autoscaler/index.ts";
export { nodeCertificates } from "./node-certificates/index.ts";
export { CidrPoolError, type NodeCidrsOptions } from "./node-ipam/index.ts";
export type { NodeLifecycleSettings } from "./node-lifecycle/index.ts";
export {
  CallLog,
  type Controller,
  type ControllerContext,
  type ControllerMetrics,
  type ControllersOptions,
  changesOf,
  controllerKey,
  controllerMetrics,
  controllerOf,
  defineController,
  type Enqueue,
  type Failure,
  keysFrom,
  type Outcome,
  type OwnerKind,
  ownedBy,
  ownersOf,
  type Plan,
  type Reconciler,
  runControllers,
  type Source,
  selected,
  UnknownControllerError,
  type Write,
} from "./runtime/index.ts";
