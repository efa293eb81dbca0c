/** What a service of each type needs from the allocator, and which fields its type supports. */
import type { Service } from "../../types/core-v1.ts";

export type IpFamily = "IPv4" | "IPv6";

/** Every type but ExternalName; a headless service has "None" instead. */
export function needsClusterIP({ spec }: Service): boolean {
  return spec?.type !== "ExternalName";
}

export function needsNodePort({ spec }: Service): boolean {
  return spec?.type === "NodePort" || spec?.type === "LoadBalancer";
}

/** Whether ports without a node port get one: `allocateLoadBalancerNodePorts` may turn it off. */
export function allocatesNodePorts(service: Service): boolean {
  if (service.spec?.type === "LoadBalancer") return service.spec.allocateLoadBalancerNodePorts !== false;
  return needsNodePort(service);
}

/** Load balancers that preserve client addresses must know which nodes have endpoints. */
export function needsHealthCheckNodePort({ spec }: Service): boolean {
  return spec?.type === "LoadBalancer" && spec.externalTrafficPolicy === "Local";
}

export function isExternallyAccessible(service: Service): boolean {
  const { type, externalIPs = [] } = service.spec ?? {};
  return needsNodePort(service) || (type === "ClusterIP" && externalIPs.length > 0);
}

export function isHeadless({ spec }: Service): boolean {
  return spec?.clusterIPs?.length === 1 && spec.clusterIPs[0] === "None";
}
