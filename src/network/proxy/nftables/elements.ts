/**
 * A Service in nftables: elements of sets and maps, and nothing else.
 *
 * 1. Chains exist for numbers of endpoints, not for Services: `pick-3` sends to one of three endpoints, which a map
 *    holds under the virtual address and a number from 0 to 2. So a change of a Service changes a few elements, and a
 *    table of 10,000 Services is filled in one transaction.
 * 2. No packet marks: masquerading depends on the original destination of a connection.
 */
import type { Endpoint } from "../endpoints.ts";
import type { Protocol, VirtualAddress } from "../virtual-addresses.ts";

/** Sets hold keys; maps hold keys with values. */
export type SetName =
  | "vips"
  | "vips-inside"
  | "endpoints"
  | "endpoints-inside"
  | "sticky"
  | "masqueraded"
  | "masqueraded-outsiders"
  | "hairpins"
  | "guarded"
  | "allowed"
  | "refused"
  | "dropped"
  | "cluster-ips";

export interface Element {
  readonly set: SetName;
  readonly key: string;
  /** Undefined for a set. */
  readonly value?: string;
}

/** The chains that the elements refer to, by number of endpoints and by affinity timeout. */
export interface Needs {
  readonly picks: ReadonlySet<number>;
  readonly affinitySeconds: ReadonlySet<number>;
}

export function elementsOf(addresses: readonly VirtualAddress[]): Element[] {
  return addresses.flatMap(elementsOfAddress);
}

export function needsOf(addresses: readonly VirtualAddress[]): Needs {
  const picks = new Set<number>();
  const affinitySeconds = new Set<number>();
  for (const { endpoints, endpointsFromInside = [], affinitySeconds: seconds } of addresses) {
    for (const { length } of [endpoints, endpointsFromInside]) if (length > 0) picks.add(length);
    if (seconds !== undefined) affinitySeconds.add(seconds);
  }
  return { picks, affinitySeconds };
}

function elementsOfAddress(vip: VirtualAddress): Element[] {
  const { address, protocol, port, endpoints, endpointsFromInside, affinitySeconds, sourceRanges } = vip;
  const key = `${address} . ${protocol} . ${port}`;
  const sticky = affinitySeconds !== undefined;
  const elements: Element[] = [];
  if (vip.masquerade === "outsiders") elements.push({ set: "cluster-ips", key: address });
  if (sourceRanges !== undefined) {
    elements.push({ set: "guarded", key });
    for (const range of sourceRanges) elements.push({ set: "allowed", key: `${key} . ${range}` });
  }
  if (endpoints.length === 0) elements.push({ set: vip.whenEmpty === "reject" ? "refused" : "dropped", key });
  else {
    elements.push({ set: "vips", key, value: `goto ${chainOf(endpoints, sticky, false)}` });
    elements.push(...slots("endpoints", key, endpoints));
    if (vip.masquerade === "everybody") elements.push({ set: "masqueraded", key });
    if (vip.masquerade === "outsiders") elements.push({ set: "masqueraded-outsiders", key });
  }
  if (endpointsFromInside !== undefined && endpointsFromInside.length > 0) {
    elements.push({ set: "vips-inside", key, value: `goto ${chainOf(endpointsFromInside, sticky, true)}` });
    elements.push(...slots("endpoints-inside", key, endpointsFromInside));
  }
  if (sticky) elements.push({ set: "sticky", key, value: `goto learn-${affinitySeconds}` });
  for (const each of new Set([...endpoints, ...(endpointsFromInside ?? [])].filter(({ isLocal }) => isLocal)))
    elements.push({ set: "hairpins", key: `${each.address} . ${each.address}` });
  return elements;
}

function chainOf({ length }: readonly Endpoint[], sticky: boolean, inside: boolean): string {
  return `${sticky ? "stick" : "pick"}${inside ? "-inside" : ""}-${length}`;
}

function slots(set: "endpoints" | "endpoints-inside", key: string, endpoints: readonly Endpoint[]): Element[] {
  return endpoints.map(({ address, port }, slot) => ({ set, key: `${key} . ${slot}`, value: `${address} . ${port}` }));
}

export const PROTOCOLS: readonly Protocol[] = ["tcp", "udp", "sctp"];
