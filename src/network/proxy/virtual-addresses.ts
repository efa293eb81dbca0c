/**
 * What a node does for a Service: for each address and port that it answers at, where its traffic goes.
 * Both modes of the proxy compile this; they differ only in the rules that they write.
 */
import type { core, discovery } from "#api";
import { type Family, familyOf } from "../kernel/ip-family.ts";
import { chooseEndpoints, type Endpoint, type NodeFacts } from "./endpoints.ts";
import type { Claim } from "./protected-addresses.ts";

export type Protocol = "tcp" | "udp" | "sctp";

export interface VirtualAddress {
  readonly family: Family;
  readonly address: string;
  readonly protocol: Protocol;
  readonly port: number;
  readonly endpoints: readonly Endpoint[];
  /** Endpoints for traffic from Pods and from the node itself, if they differ. */
  readonly endpointsFromInside?: readonly Endpoint[] | undefined;
  /** Whose traffic is masqueraded. */
  readonly masquerade: "nobody" | "outsiders" | "everybody";
  /** What happens to connections while there is no endpoint. */
  readonly whenEmpty: "reject" | "drop";
  readonly affinitySeconds?: number;
  /** CIDRs that may connect. Default: all. */
  readonly sourceRanges?: readonly string[] | undefined;
}

const DEFAULT_AFFINITY_SECONDS = 10_800;
const NO_PROXY = "service.kubernetes.io/service-proxy-name";
const HEADLESS = "service.kubernetes.io/headless";

type Service = core.Service;

/** `isRefused`: whether the Service cannot have an external or load balancer address. */
export function virtualAddresses(
  service: Service,
  slices: readonly discovery.EndpointSlice[],
  node: NodeFacts,
  isRefused: (claim: Claim) => boolean = () => false,
): VirtualAddress[] {
  const { spec, metadata } = service;
  if (spec === undefined || spec.type === "ExternalName" || spec.clusterIP === "None") return [];
  if (metadata.labels?.[NO_PROXY] !== undefined || metadata.labels?.[HEADLESS] !== undefined) return [];
  const clusterIps = spec.clusterIPs ?? (spec.clusterIP === undefined || spec.clusterIP === "" ? [] : [spec.clusterIP]);
  return clusterIps.flatMap((clusterIp) =>
    (spec.ports ?? []).flatMap((port) => addressesOfPort(service, port, clusterIp, slices, node, isRefused)),
  );
}

function addressesOfPort(
  service: Service,
  port: core.ServicePort,
  clusterIp: string,
  slices: readonly discovery.EndpointSlice[],
  node: NodeFacts,
  isRefused: (claim: Claim) => boolean,
): VirtualAddress[] {
  const { spec = {}, status } = service;
  const family = familyOf(clusterIp);
  const protocol = (port.protocol ?? "TCP").toLowerCase() as Protocol;
  const choice = chooseEndpoints(slices, port.name ?? "", port.protocol ?? "TCP", family, node);
  const inside = spec.internalTrafficPolicy === "Local" ? choice.local : choice.cluster;
  const affinity = affinityOf(spec);
  const common = { family, protocol, ...affinity };
  const internal: VirtualAddress = {
    ...common,
    address: clusterIp,
    port: port.port,
    endpoints: inside,
    masquerade: "outsiders",
    whenEmpty: inside.length === 0 && choice.cluster.length > 0 ? "drop" : "reject",
  };
  const staysLocal = spec.externalTrafficPolicy === "Local";
  const endpoints = staysLocal ? choice.local : choice.cluster;
  const external = {
    ...common,
    endpoints,
    endpointsFromInside: staysLocal ? choice.cluster : undefined,
    masquerade: staysLocal ? "nobody" : "everybody",
    whenEmpty: endpoints.length === 0 && choice.cluster.length > 0 ? "drop" : "reject",
  } as const;
  const ofFamily = (addresses: readonly string[]) => addresses.filter((address) => familyOf(address) === family);
  const granted = (address: string) => !isRefused({ address, protocol, port: port.port });
  const sources = ofFamily((spec.loadBalancerSourceRanges ?? []).map((range) => range.trim()));
  const balancers = (status?.loadBalancer?.ingress ?? [])
    .filter(({ ip, ipMode }) => ip !== undefined && ip !== "" && ipMode !== "Proxy")
    .flatMap(({ ip = "" }) => ofFamily([ip]))
    .filter(granted);
  return [
    internal,
    ...ofFamily(spec.externalIPs ?? [])
      .filter(granted)
      .map((address) => ({ ...external, address, port: port.port })),
    ...balancers.map((address) => ({
      ...external,
      address,
      port: port.port,
      sourceRanges: sources.length > 0 ? sources : undefined,
    })),
    ...(port.nodePort === undefined || port.nodePort === 0
      ? []
      : ofFamily(node.addresses).map((address) => ({ ...external, address, port: port.nodePort ?? 0 }))),
  ];
}

function affinityOf({ sessionAffinity, sessionAffinityConfig }: core.ServiceSpec) {
  if (sessionAffinity !== "ClientIP") return {};
  return { affinitySeconds: sessionAffinityConfig?.clientIP?.timeoutSeconds ?? DEFAULT_AFFINITY_SECONDS };
}
