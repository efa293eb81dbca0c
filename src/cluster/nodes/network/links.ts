/**
 * The network between nodes: a switch in a namespace of its own, a cable to each node and one to the machine. Nothing of it is connected to what the
 * machine is connected to, and the machine forwards nothing.
 *
 *     machine (API server) ── k8ts-<id> ──┐
 *     node: eth0 ─────────────────────────┤ switch (ingress)
 *     node: eth0 ─────────────────────────┘
 *     node: default route ──► nowhere          so that addresses of Services have a way until they are translated
 *
 * 1. Everything is made if it is missing and left alone if it is there: calling again repairs what was lost.
 * 2. In a namespace of its own, the switch is out of reach of what firewalls of the machine do to bridges.
 */
import { existsSync } from "node:fs";
import { CommandError, run } from "../machine/command.ts";
import { ip, ipAll } from "../machine/ip.ts";
import { type NodeNames, namespacePath, type SiteNames } from "../site/names.ts";
import { PREFIX_LENGTH_V6, type SiteNetwork } from "../site/site-network.ts";

export const SWITCH = "switch";
const MACHINE_PORT = "machine";
export const NODE_LINK = "eth0";
const NOWHERE = "nowhere";
/** Any other route to the same addresses comes first. */
const CLAIM_METRIC = "65000";

export interface NodeAddress {
  readonly index: number;
  readonly ip: string;
  /** Where Pods have addresses of IPv6. */
  readonly ip6?: string;
}

export async function ensureSwitch(site: SiteNames, network: SiteNetwork): Promise<void> {
  const { switchNamespace, machineLink } = site;
  await ensureNamespace(switchNamespace);
  if (!(await hasLink(SWITCH, switchNamespace))) await ipAll([`link add ${SWITCH} type bridge`], switchNamespace);
  if (!(await hasLink(machineLink))) {
    await ipAll([`link add ${machineLink} type veth peer name ${MACHINE_PORT} netns ${switchNamespace}`]);
  }
  await ipAll(
    [
      "link set lo up",
      `address replace ${network.ingressIp}/${network.prefixLength} dev ${SWITCH}`,
      `link set ${SWITCH} up`,
      `link set ${MACHINE_PORT} master ${SWITCH} up`,
      ...(network.ingressIp6 === undefined ? [] : [address6(network.ingressIp6, SWITCH)]),
    ],
    switchNamespace,
  );
  await ipAll([
    `address replace ${network.machineIp}/${network.prefixLength} dev ${machineLink}`,
    `link set ${machineLink} up`,
    ...(network.machineIp6 === undefined ? [] : [address6(network.machineIp6, machineLink)]),
  ]);
  for (const range of network.podRanges) await claimPodRange(range, machineLink);
}

/** Shows other clusters of this machine that the range is in use, also before a node has a part of it. Ends with the cable. */
async function claimPodRange(podRange: string, machineLink: string): Promise<void> {
  await ip(["route", "add", podRange, "dev", machineLink, "metric", CLAIM_METRIC]).catch((error: unknown) => {
    if (!(error instanceof CommandError && error.message.includes("File exists"))) throw error;
  });
}

export async function ensureNodeLink(
  { switchNamespace }: SiteNames,
  { namespace }: NodeNames,
  { index, ip: address, ip6 }: NodeAddress,
  { prefixLength }: SiteNetwork,
): Promise<void> {
  const port = `node-${index}`;
  await ensureNamespace(namespace);
  if (!(await hasLink(NODE_LINK, namespace))) {
    await ipAll([`link add ${port} type veth peer name ${NODE_LINK} netns ${namespace}`], switchNamespace);
  }
  // A switch without anything plugged in: whoever has no other way ends there, and hears after seconds that nobody answers.
  if (!(await hasLink(NOWHERE, namespace))) await ipAll([`link add ${NOWHERE} type bridge`], namespace);
  await ipAll([`link set ${port} master ${SWITCH} up`], switchNamespace);
  await ipAll(
    [
      "link set lo up",
      `address replace ${address}/${prefixLength} dev ${NODE_LINK}`,
      `link set ${NODE_LINK} up`,
      `link set ${NOWHERE} up`,
      `route replace default dev ${NOWHERE} src ${address}`,
    ],
    namespace,
  );
  const forward = (file: string) =>
    run("sh", ["-c", `echo 1 > /proc/sys/net/${file}`], { inNamespace: namespacePath(namespace) });
  await forward("ipv4/ip_forward");
  if (ip6 === undefined) return;
  await forward("ipv6/conf/all/forwarding");
  await ipAll([address6(ip6, NODE_LINK)], namespace);
  await ip(["-6", "route", "replace", "default", "dev", NOWHERE, "src", ip6], namespace);
}

/** Addresses here are given out once: nobody has to be asked whether somebody else has it, which takes a second. */
function address6(address: string, link: string): string {
  return `address replace ${address}/${PREFIX_LENGTH_V6} dev ${link} nodad`;
}

async function ensureNamespace(namespace: string): Promise<void> {
  if (await isNamespace(namespace)) return;
  // A file without a namespace behind it is what a restart of the machine may leave.
  if (existsSync(namespacePath(namespace))) await run("ip", ["netns", "delete", namespace]);
  await run("ip", ["netns", "add", namespace]);
}

async function isNamespace(namespace: string): Promise<boolean> {
  if (!existsSync(namespacePath(namespace))) return false;
  return ip(["link", "show", "lo"], namespace).then(
    () => true,
    () => false,
  );
}

/** With its network. */
export async function removeNodeLink({ namespace }: NodeNames): Promise<void> {
  await removeNamespace(namespace, NODE_LINK);
}

export async function removeSwitch({ switchNamespace }: SiteNames): Promise<void> {
  await removeNamespace(switchNamespace, MACHINE_PORT);
}

/** The kernel takes a namespace apart some time after its end. The cable is cut at once, so that a new one may have its name. */
async function removeNamespace(namespace: string, link: string): Promise<void> {
  if (await isNamespace(namespace)) {
    if (await hasLink(link, namespace)) await ipAll([`link delete ${link}`], namespace);
  }
  if (existsSync(namespacePath(namespace))) await run("ip", ["netns", "delete", namespace]);
}

async function hasLink(name: string, namespace?: string): Promise<boolean> {
  const links = JSON.parse((await ip(["-j", "link", "show"], namespace)) || "[]") as readonly { ifname?: string }[];
  return links.some(({ ifname }) => ifname === name);
}
