/** The addresses of Pods. */
import type { core } from "#api";
import { isEnding, isFinished } from "../pods/index.ts";

export type IpFamily = "IPv4" | "IPv6";

/** Whether a Pod belongs into a Service's endpoints. */
export function isReachable(pod: core.Pod, includeEnding: boolean): boolean {
  return !isFinished(pod) && allAddresses(pod).length > 0 && (includeEnding || !isEnding(pod));
}

export function addressesOf(pod: core.Pod, family: IpFamily): readonly string[] {
  return allAddresses(pod).filter((ip) => familyOf(ip) === family);
}

export function familyOf(ip: string): IpFamily {
  return ip.includes(":") ? "IPv6" : "IPv4";
}

/** A Pod whose subdomain is the Service has a host name there. */
export function hostnameFor({ spec }: core.Pod, { metadata }: core.Service): string | undefined {
  const { hostname = "", subdomain } = spec ?? {};
  return hostname !== "" && subdomain === metadata.name ? hostname : undefined;
}

function allAddresses({ status }: core.Pod): readonly string[] {
  const all = (status?.podIPs ?? []).map(({ ip = "" }) => ip).filter((ip) => ip !== "");
  const { podIP = "" } = status ?? {};
  return all.length > 0 || podIP === "" ? all : [podIP];
}
