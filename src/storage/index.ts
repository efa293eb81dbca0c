/** The whole public surface of storage. */

export {
  type CsiCallOptions,
  type CsiDriver,
  type CsiDriverOptions,
  type CsiService,
  openCsiDriver,
} from "./csi/client.ts";
export {
  AccessMode,
  BlockMetadataType,
  ControllerRpc,
  GroupControllerRpc,
  NodeRpc,
  PluginService,
  UsageUnit,
  VolumeExpansion,
} from "./csi/enums.ts";
export { inProcessDriver } from "./csi/in-process.ts";
export { type RegistrationOptions, serveRegistration } from "./csi/registration.ts";
export { type CsiImplementation, serveCsi } from "./csi/serve.ts";
export type { CsiHandlers, CsiMessageName, CsiReceived, CsiSent, CsiServiceName } from "./csi/services.ts";
export { type MemoryStorage, type MemoryStorageOptions, memoryStorage } from "./driver/memory/memory-storage.ts";
export type { LocalDriverOptions } from "./driver/open-local-driver.ts";
export { DRIVER_NAME, TOPOLOGY_KEY } from "./driver/rules/names.ts";
export { type RunDriverOptions, runLocalDriver } from "./driver/run-local-driver.ts";
