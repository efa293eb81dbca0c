/** The whole public surface of device-plugins. */
export { devicePluginMetrics } from "./device-plugin-metrics.ts";
export { ANYWHERE, DevicePlugins, type HeldDevice } from "./device-plugins.ts";
export { serveDeviceRegistration } from "./registration-server.ts";
export { NO_OPTIONS, type RunOptions } from "./run-options.ts";
