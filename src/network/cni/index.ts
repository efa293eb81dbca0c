export { CniError } from "./cni-error.ts";
export { type NetworkConfiguration, networkIn, type PluginConfiguration, parseNetwork } from "./configuration.ts";
export { type AttachResult, Network, type NetworkOptions } from "./network.ts";
export type { Attachment } from "./plugin.ts";
