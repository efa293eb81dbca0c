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
export { type CsiImplementation, serveCsi } from "./csi/serve.ts";
export type { CsiHandlers, CsiMessageName, CsiReceived, CsiSent, CsiServiceName } from "./csi/services.ts";
