/** The whole public surface of cloud. */
export type { Cloud, Instance, Instances, LoadBalancers, Route, Routes } from "./cloud.ts";
export { cloudControllers } from "./cloud-controllers.ts";
export { AddressPoolError } from "./local/address-pool.ts";
export { type LocalCloudOptions, localCloud } from "./local/local-cloud.ts";
export type { LoadBalancerOptions } from "./service-load-balancers.ts";
