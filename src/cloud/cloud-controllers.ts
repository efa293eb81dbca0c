/** The controllers for the parts that a cloud implements. */
import type { Controller } from "#controllers";
import type { Cloud } from "./cloud.ts";
import { cloudNodes } from "./cloud-nodes.ts";
import { podRoutes } from "./pod-routes.ts";
import { type LoadBalancerOptions, serviceLoadBalancers } from "./service-load-balancers.ts";

export function cloudControllers(cloud: Cloud, options: LoadBalancerOptions = {}): readonly Controller[] {
  return [
    ...(cloud.instances === undefined ? [] : [cloudNodes(cloud.instances)]),
    ...(cloud.routes === undefined ? [] : [podRoutes(cloud.routes)]),
    ...(cloud.loadBalancers === undefined ? [] : [serviceLoadBalancers(cloud.loadBalancers, options)]),
  ];
}
