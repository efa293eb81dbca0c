/** The public surface of the Service kind. */
export { keepAllocated, normalizeClusterIPs, releaseOnTypeChange } from "./carry-over.ts";
export { initIPFamilies } from "./ip-families.ts";
export {
  allocatesNodePorts,
  type IpFamily,
  isExternallyAccessible,
  isHeadless,
  needsClusterIP,
  needsHealthCheckNodePort,
  needsNodePort,
} from "./needs.ts";
export { Service } from "./service.ts";
