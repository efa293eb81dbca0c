/** The whole public surface of storage. Kubelets import the protocol alone, as `#storage/csi`. */

export * from "./csi/index.ts";
export { type DriverControllers, oneForAll } from "./sidecars/driver-controllers.ts";
