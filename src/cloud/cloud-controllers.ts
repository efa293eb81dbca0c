/** The controllers for the parts that a cloud implements. */
import { table } from "#base";
import type { Controller } from "#controllers";
import type { Cloud } from "./cloud.ts";
import { type CloudNodesOptions, cloudNodes } from "./nodes/cloud-nodes.ts";
import { cloudNodeLifecycle, type NodeLifecycleOptions } from "./nodes/node-lifecycle.ts";
import { type PodRoutesOptions, podRoutes } from "./routes/pod-routes.ts";
import { type LoadBalancerOptions, serviceLoadBalancers } from "./services/service-load-balancers.ts";

export interface CloudControllersOptions {
  readonly nodes?: CloudNodesOptions | undefined;
  readonly lifecycle?: NodeLifecycleOptions | undefined;
  /** False: the cloud's routes are left alone. */
  readonly routes?: PodRoutesOptions | false | undefined;
  readonly services?: LoadBalancerOptions | undefined;
}

/** The names of all controllers, as in `--controllers`, by the short names that are accepted as well. */
export const CLOUD_CONTROLLERS: Readonly<Record<string, string>> = table({
  "cloud-node": "cloud-node-controller",
  "cloud-node-lifecycle": "cloud-node-lifecycle-controller",
  route: "node-route-controller",
  service: "service-lb-controller",
});

export function cloudControllers(cloud: Cloud, options: CloudControllersOptions = {}): readonly Controller[] {
  const { instances, routes, loadBalancers } = cloud;
  return [
    ...(instances === undefined
      ? []
      : [cloudNodes(instances, options.nodes), cloudNodeLifecycle(instances, options.lifecycle)]),
    ...(routes === undefined || options.routes === false ? [] : [podRoutes(routes, options.routes)]),
    ...(loadBalancers === undefined ? [] : [serviceLoadBalancers(loadBalancers, options.services)]),
  ];
}
