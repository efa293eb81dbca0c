/**
 * Addresses that a Service cannot have as `externalIPs` or from a load balancer: whoever may write Services would take
 * over the traffic of others with them. Pure, but for `readListeners`.
 *
 * 1. Not in a Service or Pod range: those addresses belong to Services and Pods.
 * 2. Not the API server's, unless that is this node's own.
 * 3. Of this node: every port that nobody listens on. The kubelet's counts as in use also while it restarts.
 */
import { readFileSync } from "node:fs";
import { contains, type core, type discovery, formatIp, parseCidr, parseIp } from "#api";

/** An address and port at which a Service wants to be reached from outside. */
export interface Claim {
  readonly address: string;
  readonly protocol: string;
  readonly port: number;
}

/** A socket that listens. */
export interface Listener extends Claim {}

export interface ProtectedFacts {
  readonly serviceCidrs: readonly string[];
  readonly podCidrs: readonly string[];
  /** Of the Service default/kubernetes. */
  readonly apiServers: readonly discovery.EndpointSlice[];
  /** The Node of this proxy, once it is known. */
  readonly node: core.Node | undefined;
  /** Addresses of this node that its Node may not show. */
  readonly nodeAddresses: readonly string[];
  /** Sockets on this node. */
  listeners(): readonly Listener[];
}

/** Why a Service cannot have it, as the end of a sentence. Undefined: it can. */
export function refusalOf({ address, protocol, port }: Claim, facts: ProtectedFacts): string | undefined {
  const ip = parseIp(address);
  if (ip === undefined) return "it is no IP address";
  const inside = (cidrs: readonly string[]) =>
    cidrs.find((cidr) => {
      const range = parseCidr(cidr);
      return range !== undefined && range.bytes.length === ip.bytes.length && contains(range, ip);
    });
  const service = inside(facts.serviceCidrs);
  if (service !== undefined) return `it is in the Service range ${service}`;
  const pods = inside(facts.podCidrs);
  if (pods !== undefined) return `it is in the Pod range ${pods}`;
  const same = (other: string) => other === address || canonical(other) === canonical(address);
  const { status } = facts.node ?? {};
  const own = [...facts.nodeAddresses, ...(status?.addresses ?? []).map((each) => each.address)].some(same);
  if (!own) return isApiServer(same, facts) ? "it is an address of the API server" : undefined;
  const kubelet = protocol === "tcp" && status?.daemonEndpoints?.kubeletEndpoint?.Port === port;
  const isTaken = (each: Listener) =>
    each.protocol === protocol && each.port === port && (isAny(each.address) || same(each.address));
  if (kubelet || facts.listeners().some(isTaken)) return `port ${port}/${protocol} of this node is in use`;
  return undefined;
}

function isApiServer(same: (address: string) => boolean, { apiServers }: ProtectedFacts): boolean {
  return apiServers.some(({ endpoints }) => endpoints?.some(({ addresses }) => addresses.some(same)));
}

function canonical(address: string): string {
  const ip = parseIp(address);
  return ip === undefined ? address : formatIp(ip);
}

function isAny(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}

const TABLES = [
  ["tcp", "/proc/net/tcp"],
  ["tcp", "/proc/net/tcp6"],
  ["udp", "/proc/net/udp"],
  ["udp", "/proc/net/udp6"],
] as const;
/** States in these files: a listening socket of TCP, and one of UDP that is not connected. */
const STATES = { tcp: "0A", udp: "07" } as const;

/** Sockets of this process's network namespace. */
export function readListeners(): Listener[] {
  return TABLES.flatMap(([protocol, file]) => listenersIn(protocol, readIfThere(file)));
}

/** Of a file such as /proc/net/tcp: addresses there are words of 4 bytes, each in the machine's order. */
export function listenersIn(protocol: "tcp" | "udp", text: string): Listener[] {
  return text
    .split("\n")
    .slice(1)
    .flatMap((line) => {
      const [, local = "", , state] = line.trim().split(/\s+/);
      const [hex = "", port = ""] = local.split(":");
      if (state !== STATES[protocol] || port === "") return [];
      const bytes = Buffer.from(hex, "hex").swap32();
      return [{ protocol, address: formatIp({ bytes: [...bytes] }), port: Number.parseInt(port, 16) }];
    });
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return ""; // a kernel without IPv6
    throw error;
  }
}
