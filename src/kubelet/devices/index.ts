/** The whole public surface of devices. */
export { type NodeDevices, nodeDevices } from "./node-devices.ts";
export { type PodDevices, withoutDrivers } from "./pod-devices.ts";
