/**
 * The records of a Service, by the Kubernetes DNS-based service discovery specification (version 1.1.0).
 *
 * 1. Names are fully qualified, in lower case, without the trailing dot.
 * 2. Only ready endpoints have records. With publishNotReadyAddresses, the EndpointSlice controller marks all as ready.
 */
import type { core, discovery } from "#api";
import { reverseName } from "./reverse.ts";

export type RecordData =
  | { readonly type: "A" | "AAAA"; readonly address: string }
  | { readonly type: "CNAME" | "PTR" | "NS"; readonly target: string }
  | {
      readonly type: "SRV";
      readonly priority: number;
      readonly weight: number;
      readonly port: number;
      readonly target: string;
    }
  | { readonly type: "TXT"; readonly text: string };

export type DnsRecord = RecordData & { readonly name: string };

type Service = core.Service;
type EndpointSlice = discovery.EndpointSlice;

const PRIORITY = 0;
const WEIGHT = 100;

export function serviceRecords(service: Service, slices: readonly EndpointSlice[], zone: string): DnsRecord[] {
  const { name = "", namespace = "" } = service.metadata ?? {};
  const own = `${name}.${namespace}.svc.${zone}`.toLowerCase();
  const {
    type,
    externalName = "",
    clusterIP = "",
    clusterIPs = clusterIP === "" ? [] : [clusterIP],
  } = service.spec ?? {};
  if (type === "ExternalName") {
    return externalName === "" ? [] : [{ name: own, type: "CNAME", target: withoutDot(externalName.toLowerCase()) }];
  }
  return clusterIPs.includes("None")
    ? slices.flatMap((slice) => headlessRecords(own, slice))
    : clusterIpRecords(own, clusterIPs, service.spec?.ports ?? []);
}

/** Names outside of the zone that this server knows. */
export function hostRecords(hosts: Readonly<Record<string, readonly string[]>>): DnsRecord[] {
  return Object.entries(hosts).flatMap(([name, addresses]) =>
    addresses.map((address) => addressRecord(withoutDot(name.toLowerCase()), address)),
  );
}

function clusterIpRecords(own: string, addresses: readonly string[], ports: readonly core.ServicePort[]): DnsRecord[] {
  const pointers = addresses.map((address) => ({ name: reverseName(address), type: "PTR", target: own }) as const);
  const named = ports.flatMap(({ name, protocol, port }) => srv(own, name, protocol, port, own));
  return [...addresses.map((address) => addressRecord(own, address)), ...named, ...pointers];
}

function headlessRecords(own: string, { addressType, endpoints = [], ports = [] }: EndpointSlice): DnsRecord[] {
  // Slices of host names have no records.
  if (addressType === "FQDN") return [];
  return (endpoints ?? []).flatMap(({ addresses = [], conditions, hostname }) => {
    if (conditions?.ready === false) return [];
    return addresses.flatMap((address) => {
      const target = `${(hostname ?? dashed(address)).toLowerCase()}.${own}`;
      return [
        addressRecord(own, address),
        addressRecord(target, address),
        { name: reverseName(address), type: "PTR", target } as const,
        ...(ports ?? []).flatMap(({ name, protocol, port }) => srv(own, name, protocol, port, target)),
      ];
    });
  });
}

function addressRecord(name: string, address: string): DnsRecord {
  return { name, type: address.includes(":") ? "AAAA" : "A", address };
}

/** SRV records exist for named ports only. */
function srv(
  own: string,
  port: string | undefined,
  protocol = "TCP",
  number: number | undefined,
  target: string,
): DnsRecord[] {
  if (port === undefined || port === "" || number === undefined) return [];
  const name = `_${port}._${protocol}.${own}`.toLowerCase();
  return [{ name, type: "SRV", priority: PRIORITY, weight: WEIGHT, port: number, target }];
}

/** The name of an endpoint without a hostname. */
function dashed(address: string): string {
  return address.replaceAll(/[.:]/g, "-");
}

function withoutDot(name: string): string {
  return name.endsWith(".") ? name.slice(0, -1) : name;
}
