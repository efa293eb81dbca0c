/**
 * The addresses of a cluster: ranges that nothing else on this machine uses, chosen once.
 *
 *     10.89.N.0/24    .1 the machine, .2 the ingress, from .11 on nodes
 *     10.88.N.0/24    load balancers of Services
 *     10.244.0.0/16   Pods; another one where another cluster has that
 */
import { mkdir, readFile } from "node:fs/promises";
import type { Random } from "#base";
import { writeFileAtomic } from "../data-dir.ts";
import { ClusterError } from "../errors.ts";
import type { SiteNames } from "./names.ts";
import { ip } from "./network.ts";

/** Of the private range 10.0.0.0/8; away from 10.96.0.0/12 (Services) and from where Pods are. */
const NODES = "10.89";
const BALANCERS = "10.88";
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
  readonly podRange: string;
}

/** What is written down. */
interface Chosen {
  readonly third: number;
  /** By which containerds show themselves to the machine's proxy. */
  readonly pullSecret: string;
  /** Absent: the usual one. */
  readonly podRange?: string;
}

export function siteNetwork(third: number, podRange: string = USUAL_POD_RANGE): SiteNetwork {
  const at = (last: number) => `${NODES}.${third}.${last}`;
  return {
    third,
    prefixLength: 24,
    machineIp: at(1),
    ingressIp: at(2),
    balancerRange: `${BALANCERS}.${third}.0/24`,
    podRange,
  };
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

/** As it was chosen the first time. `podRange`: the user's choice. */
export async function ensureSiteNetwork(
  site: SiteNames,
  random: Random,
  podRange?: string,
): Promise<SiteNetwork & Chosen> {
  const known = await readChosen(site);
  if (known !== undefined) {
    const network = { ...known, ...siteNetwork(known.third, known.podRange) };
    if (podRange === undefined || podRange === network.podRange) return network;
    throw new ClusterError(
      `Pods of this cluster have addresses of ${network.podRange}: --cluster-cidr cannot change that. \`k8ts reset\` begins anew.`,
    );
  }
  const shown = JSON.parse((await ip(["-j", "-4", "route", "show"])) || "[]") as readonly { dst: string }[];
  const routes = shown.map(({ dst }) => dst);
  const chosen = chooseRange(site.id, routes);
  if (chosen === undefined) {
    throw new ClusterError(
      `Every range of ${NODES}.0.0/16 is in use on this machine: there are no addresses for nodes.`,
    );
  }
  await mkdir(site.nodesDir, { recursive: true, mode: 0o700 });
  const made = {
    third: chosen.third,
    pullSecret: Buffer.from(random.bytes(16)).toString("hex"),
    podRange: podRange ?? choosePodRange(routes),
  };
  await writeFileAtomic(site.networkFile, `${JSON.stringify(made)}\n`);
  return { ...chosen, ...made };
}

async function readChosen({ networkFile }: SiteNames): Promise<Chosen | undefined> {
  const text = await readFile(networkFile, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as Chosen);
}
