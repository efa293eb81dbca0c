/** The whole public surface of config. */
export {
  type CgroupSettings,
  EVICTION_HARD,
  type EvictionSettings,
  KUBELET_DEFAULTS,
  type KubeletConfig,
  type SwapSettings,
  type TopologySettings,
} from "./config.ts";
export { kubeletConfiguration, parseKubeletConfiguration } from "./configuration-file.ts";
export type { Document } from "./document.ts";
export { configurationProblems } from "./validation.ts";
