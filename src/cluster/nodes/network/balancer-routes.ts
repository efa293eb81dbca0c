/**
 * Routes from the machine to load balancer addresses of Services: each address via a node, whose kube-proxy handles it.
 * Pure.
 *
 * 1. With externalTrafficPolicy Local, the route leads to a node with an endpoint.
 * 2. Of several nodes the first by name is chosen: a route changes only when its node is gone.
 */
import type { core, discovery } from "#api";
import type { Route } from "./routes.ts";

export interface BalancerSources {
  readonly services: readonly core.Service[];
  readonly nodes: readonly core.Node[];
  slicesOf(service: core.Service): readonly discovery.EndpointSlice[];
}

export function balancerRoutes({ services, nodes, slicesOf }: BalancerSources): Route[] {
  const ready = nodes.filter(isReady).sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
  return services.flatMap((service) => {
    const addresses = balancerAddresses(service);
    if (addresses.length === 0) return [];
    const fit = service.spec?.externalTrafficPolicy === "Local" ? withEndpoint(ready, slicesOf(service)) : ready;
    // Without endpoints, any node may refuse the traffic.
    const via = internalIp(fit[0] ?? ready[0]);
    return via === undefined ? [] : addresses.map((address) => ({ cidr: `${address}/32`, via }));
  });
}

function balancerAddresses({ spec, status }: core.Service): string[] {
  if (spec?.type !== "LoadBalancer") return [];
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip = "", ipMode }) =>
    ip === "" || ip.includes(":") || ipMode === "Proxy" ? [] : [ip],
  );
}

function withEndpoint(nodes: readonly core.Node[], slices: readonly discovery.EndpointSlice[]): readonly core.Node[] {
  const endpoints = slices.flatMap((slice) => slice.endpoints ?? []);
  const on = (chosen: typeof endpoints) => {
    const names = new Set(chosen.map(({ nodeName }) => nodeName));
    return nodes.filter(({ metadata }) => names.has(metadata.name));
  };
  const ready = on(endpoints.filter(({ conditions }) => conditions?.ready !== false));
  return ready.length > 0 ? ready : on(endpoints.filter(({ conditions }) => conditions?.serving === true));
}

function isReady({ status, metadata }: core.Node): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") ?? false;
}

function internalIp(node: core.Node | undefined): string | undefined {
  return node?.status?.addresses?.find(({ type, address }) => type === "InternalIP" && !address.includes(":"))?.address;
}
