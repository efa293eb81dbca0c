/** The addresses of a cluster's nodes: a range of 254 that nothing else on this machine uses, chosen once. */
import { mkdir, readFile } from "node:fs/promises";
import type { Random } from "#base";
import { writeFileAtomic } from "../data-dir.ts";
import { ClusterError } from "../errors.ts";
import type { SiteNames } from "./names.ts";
import { ip } from "./network.ts";

/** Of the private range 10.0.0.0/8; away from 10.96.0.0/12 (Services) and 10.244.0.0/16 (Pods). */
const BASE = "10.89";
const FIRST_NODE = 10;
export const MAX_NODES = 240;

export interface SiteNetwork {
  /** The third number of its addresses. */
  readonly third: number;
  readonly prefixLength: number;
  /** Where nodes reach the machine: the API server listens there. */
  readonly machineIp: string;
}

/** What is written down. */
interface Chosen {
  readonly third: number;
  /** By which containerds show themselves to the machine's proxy. */
  readonly pullSecret: string;
}

export function siteNetwork(third: number): SiteNetwork {
  return { third, prefixLength: 24, machineIp: `${BASE}.${third}.1` };
}

export function nodeIp({ third }: SiteNetwork, index: number): string {
  return `${BASE}.${third}.${FIRST_NODE + index}`;
}

/** The first range at or behind the one that the cluster's id points to which no route of the machine touches. */
export function chooseRange(id: string, routes: readonly string[]): SiteNetwork | undefined {
  const start = Number.parseInt(id.slice(0, 2), 16);
  for (let step = 0; step < 256; step++) {
    const third = (start + step) % 256;
    if (!routes.some((route) => touches(route, third))) return siteNetwork(third);
  }
  return undefined;
}

function touches(route: string, third: number): boolean {
  const [address = "", length = "32"] = route.split("/");
  if (Number(length) === 0 || address === "default") return false;
  const number = (text: string) => text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
  const shift = 2 ** (32 - Math.min(Number(length), 24));
  return Math.floor(number(address) / shift) === Math.floor(number(`${BASE}.${third}.0`) / shift);
}

/** As it was chosen the first time. */
export async function ensureSiteNetwork(site: SiteNames, random: Random): Promise<SiteNetwork & Chosen> {
  const known = await readChosen(site);
  if (known !== undefined) return { ...siteNetwork(known.third), ...known };
  const routes = JSON.parse((await ip(["-j", "-4", "route", "show"])) || "[]") as readonly { dst: string }[];
  const chosen = chooseRange(
    site.id,
    routes.map(({ dst }) => dst),
  );
  if (chosen === undefined) {
    throw new ClusterError(
      `Every range of ${BASE}.0.0/16 is in use on this machine: there are no addresses for nodes.`,
    );
  }
  await mkdir(site.nodesDir, { recursive: true, mode: 0o700 });
  const made = { third: chosen.third, pullSecret: Buffer.from(random.bytes(16)).toString("hex") };
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
