/**
 * The addresses of a cluster: ranges that nothing else on this machine uses, chosen once.
 *
 *     10.89.N.0/24    .1 the machine, .2 the ingress, from .11 on nodes
 *     10.88.N.0/24    load balancers of Services
 *     10.244.0.0/16   Pods; another one where another cluster has that
 *     fd6b:3874:7300:N::/64   the machine and nodes, where Pods have addresses of IPv6, too
 */
import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import type { Random } from "#base";
import { ClusterError } from "../../config/errors.ts";
import { writeFileAtomic } from "../../data/data-dir.ts";
import { ip } from "../machine/ip.ts";
import type { SiteNames } from "./names.ts";

/** Of the private range 10.0.0.0/8; away from 10.96.0.0/12 (Services) and from where Pods are. */
const NODES = "10.89";
const BALANCERS = "10.88";
/** Of the range that anybody may use in their own network. */
const NODES_V6 = "fd6b:3874:7300";
const FIRST_NODE = 10;
export const MAX_NODES = 240;
/** The second numbers of ranges for Pods: the usual one first. The last one is behind the range of Services. */
const POD_RANGES = { first: 244, last: 112 };
export const USUAL_POD_RANGE = `10.${POD_RANGES.first}.0.0/16`;

export interface SiteNetwork {
  /** The third number of its addresses. */
  readonly third: number;
  readonly prefixLength: number;
  /** Where nodes reach the machine: the API server listens there. */
  readonly machineIp: string;
  /** Where Ingresses are served. */
  readonly ingressIp: string;
  readonly balancerRange: string;
  /** One, or one of each family. */
  readonly podRanges: readonly string[];
  /** Where Pods have addresses of IPv6: the machine's and the ingress's, too. */
  readonly machineIp6?: string;
  readonly ingressIp6?: string;
}

/** What is written down. */
interface Chosen {
  readonly third: number;
  /** By which containerds show themselves to the machine's proxy. */
  readonly pullSecret: string;
  /** Absent: the usual one. Several are separated by commas. */
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

/** Undefined where the cluster has no IPv6. */
export function nodeIp6({ third, machineIp6 }: SiteNetwork, index: number): string | undefined {
  return machineIp6 && at6(third, FIRST_NODE + index);
}

function at6(third: number, last: number): string {
  return `${NODES_V6}:${third.toString(16)}::${last.toString(16)}`;
}

export function nodeIp({ third }: SiteNetwork, index: number): string {
  return `${NODES}.${third}.${FIRST_NODE + index}`;
}

/** The first range at or behind the one that the cluster's id points to which no route of the machine touches. */
export function chooseRange(id: string, routes: readonly string[]): SiteNetwork | undefined {
  const start = Number.parseInt(id.slice(0, 2), 16);
  for (let step = 0; step < 256; step++) {
    const third = (start + step) % 256;
    const ranges = [NODES, BALANCERS].map((base) => `${base}.${third}.0/24`);
    if (!routes.some((route) => ranges.some((range) => touches(route, range)))) return siteNetwork(third);
  }
  return undefined;
}

/** The first that no route of the machine touches; the usual one where there is none. */
export function choosePodRange(routes: readonly string[]): string {
  for (let second = POD_RANGES.first; second >= POD_RANGES.last; second--) {
    const range = `10.${second}.0.0/16`;
    if (!routes.some((route) => touches(route, range))) return range;
  }
  return USUAL_POD_RANGE;
}

/** Whether a route is about addresses of a range. The default route is about none in particular. */
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

/** As it was chosen the first time. `podRanges`: the user's choice. */
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
      `Pods of this cluster have addresses of ${network.podRanges}: --cluster-cidr cannot change that. \`k8ts reset\` begins anew.`,
    );
  }
  if (podRanges?.some((range) => range.includes(":")) && !existsSync("/proc/net/if_inet6"))
    throw new ClusterError("This machine has no IPv6: --cluster-cidr can only be a range of IPv4.");
  const shown = JSON.parse((await ip(["-j", "-4", "route", "show"])) || "[]") as readonly { dst: string }[];
  const routes = shown.map(({ dst }) => dst);
  const chosen = chooseRange(site.id, routes);
  if (chosen === undefined) {
    throw new ClusterError(
      `Every range of ${NODES}.0.0/16 is in use on this machine: there are no addresses for nodes.`,
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

async function readChosen({ networkFile }: SiteNames): Promise<Chosen | undefined> {
  const text = await readFile(networkFile, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as Chosen);
}
