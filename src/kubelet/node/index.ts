/** The whole public surface of node. */
export { type NodeHealth, nodeConditions, type Pressure } from "./conditions.ts";
export { NodeLease, RENEW_MS } from "./lease.ts";
export {
  type Amounts,
  allocatableOf,
  capacityOf,
  imageList,
  type NodeReport,
  nodeAddresses,
  nodeLabels,
  nodeStatus,
  type Reserved,
} from "./node-object.ts";
export { Registration } from "./registration.ts";
