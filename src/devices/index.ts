/** The whole public surface of devices. */
export { DEFAULT_DRIVER, readDeviceConfig } from "./device-config.ts";
export { DRA_PLUGIN, DRA_SERVICES, type DraService, draMethods } from "./dra-messages.ts";
export { type DeviceDriverOptions, runDeviceDriver } from "./run-device-driver.ts";
