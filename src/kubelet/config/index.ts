/** The whole public surface of config. */
export { EVICTION_HARD, KUBELET_DEFAULTS, type KubeletConfig } from "./config.ts";
export { kubeletConfiguration, parseKubeletConfiguration } from "./configuration-file.ts";
