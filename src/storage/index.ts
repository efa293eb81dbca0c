/** The whole public surface of storage. Kubelets import the protocol alone, as `#storage/csi`. */

export * from "./csi/index.ts";
export { type MemoryStorage, type MemoryStorageOptions, memoryStorage } from "./driver/memory/memory-storage.ts";
export type { LocalDriverOptions } from "./driver/open-local-driver.ts";
export { DRIVER_NAME, TOPOLOGY_KEY } from "./driver/rules/names.ts";
export { type RunDriverOptions, runLocalDriver } from "./driver/run-local-driver.ts";
export { type DriverControllers, oneForAll } from "./sidecars/driver-controllers.ts";
