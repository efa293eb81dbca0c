/** The public surface of the protocol, as `#storage/csi`: kubelets import it without the controllers. */

export {
  type CsiCallOptions,
  type CsiDriver,
  type CsiDriverOptions,
  type CsiService,
  openCsiDriver,
} from "./client.ts";
export {
  AccessMode,
  BlockMetadataType,
  ControllerRpc,
  GroupControllerRpc,
  NodeRpc,
  PluginService,
  UsageUnit,
  VolumeExpansion,
} from "./enums.ts";
export { inProcessDriver } from "./in-process.ts";
export { type RegistrationOptions, registrationSocket, serveRegistration } from "./registration.ts";
export { type CsiImplementation, serveCsi } from "./serve.ts";
export type { CsiHandlers, CsiMessageName, CsiReceived, CsiSent, CsiServiceName } from "./services.ts";
