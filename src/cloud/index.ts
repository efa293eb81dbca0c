/** The whole public surface of cloud. */
export {
  type Cloud,
  CloudError,
  type Instance,
  type Instances,
  type LoadBalancers,
  type Route,
  type Routes,
} from "./cloud.ts";
export { CLOUD_CONTROLLERS, type CloudControllersOptions, cloudControllers } from "./cloud-controllers.ts";
export { type HttpCloudOptions, httpCloud } from "./http/http-cloud.ts";
export { CloudConfigError, type HttpCloudSettings, httpCloudSettings } from "./http/settings.ts";
export { AddressPoolError } from "./local/address-pool.ts";
export { type LocalCloudOptions, localCloud } from "./local/local-cloud.ts";
export { nodeBalancers } from "./local/node-balancers.ts";
export type { CloudNodesOptions } from "./nodes/cloud-nodes.ts";
export type { NodeLifecycleOptions } from "./nodes/node-lifecycle.ts";
export type { PodRoutesOptions } from "./routes/pod-routes.ts";
export type { LoadBalancerOptions } from "./services/service-load-balancers.ts";
