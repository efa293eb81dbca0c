/** The whole public surface of node. */
export { type NodeHealth, nodeConditions, type Pressure } from "./conditions.ts";
export { declaredFeatures } from "./declared-features.ts";
export { addressesBeforeCloud, internalIps, providedIpAnnotation, UNINITIALIZED } from "./external-cloud.ts";
export { LEASE_RENEW_MS, NodeLease } from "./lease.ts";
export {
  cgroupVersionMetric,
  isReady,
  type NodeStartup,
  nodeStartup,
  shutdownMetrics,
  startupOf,
} from "./node-metrics.ts";
export {
  type Amounts,
  allocatableOf,
  capacityOf,
  imageList,
  missingLabels,
  type NodeReport,
  newNode,
  nodeAddresses,
  nodeLabels,
  nodeStatus,
  nodeStatusPatch,
  type Reserved,
  STATUS_HEARTBEAT_MS,
} from "./node-object.ts";
export { Registration } from "./registration.ts";
