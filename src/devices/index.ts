/** The whole public surface of devices. */
export { DEFAULT_DRIVER, readDeviceConfig } from "./device-config.ts";
export {
  containerResponseCodec,
  DEVICE_PLUGIN,
  DEVICE_PLUGIN_VERSION,
  devicePluginMethods,
  deviceRegistrationMethods,
  KUBELET_SOCKET,
} from "./device-plugin-messages.ts";
export {
  DRA_HEALTH_SERVICE,
  DRA_PLUGIN,
  DRA_SERVICES,
  type DraService,
  draHealthMethods,
  draMethods,
  HealthStatus,
} from "./dra-messages.ts";
export { type DeviceDriverOptions, runDeviceDriver } from "./run-device-driver.ts";
