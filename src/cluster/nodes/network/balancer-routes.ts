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
  const ready = readyNodes(nodes);
  return services.flatMap((service) => {
    const addresses = balancerAddresses(service);
    if (addresses.length === 0) return [];
    const via = chosenNode(service, ready, slicesOf(service));
    return via === undefined ? [] : addresses.map((address) => ({ cidr: `${address}/32`, via }));
  });
}

/** The address of the node that gets the traffic of a Service from outside. */
export function nodeFor(
  service: core.Service,
  nodes: readonly core.Node[],
  slices: readonly discovery.EndpointSlice[],
): string | undefined {
  return chosenNode(service, readyNodes(nodes), slices);
}

function readyNodes(nodes: readonly core.Node[]): core.Node[] {
  return nodes.filter(isReady).sort((a, b) => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1));
}

function chosenNode(
  service: core.Service,
  ready: readonly core.Node[],
  slices: readonly discovery.EndpointSlice[],
): string | undefined {
  const fit = service.spec?.externalTrafficPolicy === "Local" ? withEndpoint(ready, slices) : ready;
  // Without endpoints, any node may refuse the traffic.
  return internalIp(fit[0] ?? ready[0]);
}

/** Those that nodes serve. */
export function balancerAddresses({ spec, status }: core.Service): string[] {
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
