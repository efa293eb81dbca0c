/**
 * The address ranges of a cluster: unused on this machine, and chosen once.
 *
 *     10.89.N.0/24    .1 the machine, .2 the ingress, from .11 on nodes
 *     10.88.N.0/24    load balancers of Services
 *     10.244.0.0/16   Pods; another range if another cluster uses it
 *     fd6b:3874:7300:N::/64   the machine and nodes, with dual-stack Pods
 */
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import type { Random } from "#base";
import { ClusterError } from "../../config/errors.ts";
import { writeFileAtomic } from "../../data/data-dir.ts";
import { ip } from "../machine/ip.ts";
import type { SiteNames } from "./names.ts";

/** In 10.0.0.0/8; distinct from 10.96.0.0/12 (Services) and from the Pod ranges. */
const NODES = "10.89";
const BALANCERS = "10.88";
/** In the unique local range fd00::/8. */
const NODES_V6 = "fd6b:3874:7300";
const FIRST_NODE = 10;
export const MAX_NODES = 240;
/** The second octets of Pod ranges: the default first. The last one is above the Service range. */
const POD_RANGES = { first: 244, last: 112 };
export const USUAL_POD_RANGE = `10.${POD_RANGES.first}.0.0/16`;

export interface SiteNetwork {
  /** The third octet of its addresses. */
  readonly third: number;
  readonly prefixLength: number;
  /** The machine's address for nodes: the API server listens there. */
  readonly machineIp: string;
  /** Where serving Ingresses. */
  readonly ingressIp: string;
  readonly balancerRange: string;
  /** One, or one of each family. */
  readonly podRanges: readonly string[];
  /** With dual-stack Pods: the IPv6 addresses of the machine and the ingress. */
  readonly machineIp6?: string;
  readonly ingressIp6?: string;
}

/** The record. */
interface Chosen {
  readonly third: number;
  /** The secret of containerds for the pull proxy. */
  readonly pullSecret: string;
  /** Absent: the default range. Comma-separated. */
  readonly podRange?: string;
}

export const PREFIX_LENGTH_V6 = 64;

export function siteNetwork(third: number, podRanges: readonly string[] = [USUAL_POD_RANGE]): SiteNetwork {
  const at = (last: number) => `${NODES}.${third}.${last}`;
  const hasIpv6 = podRanges.some((range) => range.includes(":"));
  return {
    third,
    prefixLength: 24,
    machineIp: at(1),
    ingressIp: at(2),
    balancerRange: `${BALANCERS}.${third}.0/24`,
    podRanges,
    ...(hasIpv6 && { machineIp6: at6(third, 1), ingressIp6: at6(third, 2) }),
  };
}

/** Undefined without IPv6. */
export function nodeIp6({ third, machineIp6 }: SiteNetwork, index: number): string | undefined {
  return machineIp6 && at6(third, FIRST_NODE + index);
}

function at6(third: number, last: number): string {
  return `${NODES_V6}:${third.toString(16)}::${last.toString(16)}`;
}

export function nodeIp({ third }: SiteNetwork, index: number): string {
  return `${NODES}.${third}.${FIRST_NODE + index}`;
}

/** The first unused range, starting from the one that the cluster's ID selects. */
export function chooseRange(id: string, routes: readonly string[]): SiteNetwork | undefined {
  const start = Number.parseInt(id.slice(0, 2), 16);
  for (let step = 0; step < 256; step++) {
    const third = (start + step) % 256;
    const ranges = [NODES, BALANCERS].map((base) => `${base}.${third}.0/24`);
    if (!routes.some((route) => ranges.some((range) => touches(route, range)))) return siteNetwork(third);
  }
  return undefined;
}

/** The first unused range; the default if all are used. */
export function choosePodRange(routes: readonly string[]): string {
  for (let second = POD_RANGES.first; second >= POD_RANGES.last; second--) {
    const range = `10.${second}.0.0/16`;
    if (!routes.some((route) => touches(route, range))) return range;
  }
  return USUAL_POD_RANGE;
}

/** Whether a route overlaps a range. The default route does not count. */
function touches(route: string, range: string): boolean {
  const parts = (cidr: string) => {
    const [address = "", length = "32"] = cidr.split("/");
    return { number: address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0), length: Number(length) };
  };
  if (route === "default") return false;
  const [a, b] = [parts(route), parts(range)];
  if (a.length === 0) return false;
  const size = 2 ** (32 - Math.min(a.length, b.length));
  return Math.floor(a.number / size) === Math.floor(b.number / size);
}

/** The ranges chosen at the first start. `podRanges`: the user's choice. */
export async function ensureSiteNetwork(
  site: SiteNames,
  random: Random,
  podRanges?: readonly string[],
): Promise<SiteNetwork & Chosen> {
  const known = await readChosen(site);
  if (known !== undefined) {
    const network = { ...known, ...siteNetwork(known.third, known.podRange?.split(",")) };
    if (podRanges === undefined || podRanges.join() === network.podRanges.join()) return network;
    throw new ClusterError(
      `The Pod IP range of this cluster is ${network.podRanges}: --cluster-cidr cannot change it. \`k8ts reset\` deletes the cluster.`,
    );
  }
  if (podRanges?.some((range) => range.includes(":")) && !existsSync("/proc/net/if_inet6"))
    throw new ClusterError("This machine has no IPv6: --cluster-cidr must be an IPv4 CIDR.");
  const shown = JSON.parse((await ip(["-j", "-4", "route", "show"])) || "[]") as readonly { dst: string }[];
  const routes = shown.map(({ dst }) => dst);
  const chosen = chooseRange(site.id, routes);
  if (chosen === undefined) {
    throw new ClusterError(
      `All ranges in ${NODES}.0.0/16 are in use on this machine: there are no addresses for nodes.`,
    );
  }
  await mkdir(site.nodesDir, { recursive: true, mode: 0o700 });
  const ranges = podRanges ?? [choosePodRange(routes)];
  const made = {
    third: chosen.third,
    pullSecret: Buffer.from(random.bytes(16)).toString("hex"),
    podRange: ranges.join(),
  };
  await writeFileAtomic(site.networkFile, `${JSON.stringify(made)}\n`);
  return { ...siteNetwork(chosen.third, ranges), ...made };
}

/** Undefined: there were no real nodes yet. */
export async function knownSiteNetwork(site: SiteNames): Promise<SiteNetwork | undefined> {
  const known = await readChosen(site);
  return known && siteNetwork(known.third, known.podRange?.split(","));
}

async function readChosen({ networkFile }: SiteNames): Promise<Chosen | undefined> {
  const text = await readFile(networkFile, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as Chosen);
}
