/** The whole public surface of plugins. */
export { type Plugin, type PluginHandler, type PluginRegistryOptions, runPluginRegistry } from "./plugin-registry.ts";
export { registrationMethods } from "./registration-messages.ts";
