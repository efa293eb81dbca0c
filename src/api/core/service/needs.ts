/** What a service of some type needs from an allocator, and what it can say at all. */
import type { Service } from "../../types/core-v1.ts";

export type IpFamily = "IPv4" | "IPv6";

/** Of every type but ExternalName; a headless one has "None" instead. */
export function needsClusterIP({ spec }: Service): boolean {
  return spec?.type !== "ExternalName";
}

export function needsNodePort({ spec }: Service): boolean {
  return spec?.type === "NodePort" || spec?.type === "LoadBalancer";
}

/** Whether ports without a node port get one: a load balancer may be told to do without. */
export function allocatesNodePorts(service: Service): boolean {
  if (service.spec?.type === "LoadBalancer") return service.spec.allocateLoadBalancerNodePorts !== false;
  return needsNodePort(service);
}

/** Load balancers that keep clients' addresses must know which nodes have endpoints. */
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
