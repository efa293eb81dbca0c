/** The whole public surface of devices. */
export type { HeldClaim } from "./claimed-devices.ts";
export { type NodeDevices, nodeDevices } from "./node-devices.ts";
export { type Held, type PodDevices, withoutDrivers } from "./pod-devices.ts";
