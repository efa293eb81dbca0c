/** The whole public surface of containers: from a Pod and its node to the runtime's configuration. */
export {
  type CgroupLayout,
  type CgroupPlace,
  cgroupLayout,
  cgroupRootOf,
  podCgroup,
  podCgroupOf,
  podUidOf,
  qosCgroup,
} from "./cgroup-names.ts";
export { RuntimeConfigError } from "./config-error.ts";
export { type ContainerParts, containerConfig, type DeviceParts } from "./container-config.ts";
export { parseResolver, podResolver } from "./dns.ts";
export { type Environment, type EnvSources, environment, envReferences } from "./env.ts";
export { etcHosts } from "./etc-hosts.ts";
export { fieldValue, type PodAddresses, resourceValue } from "./field-ref.ts";
export { type MountPaths, subPathOf, type VolumePath } from "./mounts.ts";
export * from "./names.ts";
export type { NodeFacts, Resolver } from "./node-facts.ts";
export {
  hugePageLimits,
  type MemoryQos,
  PLAIN_RULES,
  pageSizeText,
  type ResourceRules,
  type SwapRules,
} from "./resource-rules.ts";
export {
  type CpuPlacement,
  containerResources,
  cpuShares,
  type PodResourceContext,
  podResources,
} from "./resources.ts";
export { podSandboxConfig, portMappings } from "./sandbox-config.ts";
export { serviceEnv } from "./service-env.ts";
export { messageOf, StartError } from "./start-error.ts";
