/** The whole public surface of storage. Kubelets import the protocol alone, as `#storage/csi`. */

export * from "./csi/index.ts";
export type { NodePlace } from "./driver/linux/mounts-in-node.ts";
export { type MemoryStorage, type MemoryStorageOptions, memoryStorage } from "./driver/memory/memory-storage.ts";
export type { LocalDriverOptions } from "./driver/open-local-driver.ts";
export { DRIVER_NAME, TOPOLOGY_KEY } from "./driver/rules/names.ts";
export { type RunDriverOptions, runLocalDriver } from "./driver/run-local-driver.ts";
export { ACCOUNT_NAMESPACE, READER_ACCOUNT } from "./sidecars/accounts.ts";
export { nodeOfVolume } from "./sidecars/calls/volumes.ts";
export { capacityOwner } from "./sidecars/capacity/owner.ts";
export { ensureDefaultObjects } from "./sidecars/default-objects.ts";
export { type DriverControllers, onEachOf, oneForAll } from "./sidecars/driver-controllers.ts";
export type { ProvisionerSettings } from "./sidecars/provisioner/index.ts";
export { recordedControllers } from "./sidecars/recorded-controllers.ts";
export { simulatedRegistration } from "./sidecars/registration.ts";
export {
  leaseName,
  type RunSidecarsOptions,
  runSidecars,
  type Sidecar,
  type SidecarName,
  type SidecarSettings,
  sidecarsOf,
} from "./sidecars/run-sidecars.ts";
export * from "./snapshots/index.ts";
