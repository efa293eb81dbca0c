/**
 * The network between nodes: a bridge in its own network namespace (the switch), with a veth pair to each node and one
 * to the machine. It is not connected to the machine's other networks. Without a way out the machine forwards nothing;
 * `outside/` has the way out.
 *
 *     machine (API server) ── k8ts-<id> ──┐
 *     node: eth0 ─────────────────────────┤ switch (ingress)
 *     node: eth0 ─────────────────────────┘
 *     node: default route ──► the machine, or nowhere      Service addresses have a route until they are translated
 *
 * 1. Idempotent: missing parts are created, existing ones are left alone.
 * 2. In its own namespace, the switch is not affected by the machine's firewall rules for bridges.
 * 3. A node checks the senders of its Pods before the first Pod is there.
 */
import { existsSync } from "node:fs";
import { arpSenderScript, senderRules } from "#network";
import { CommandError, run } from "../machine/command.ts";
import { ip, ipAll } from "../machine/ip.ts";
import { type NodeNames, namespacePath, type SiteNames } from "../site/names.ts";
import { PREFIX_LENGTH_V6, type SiteNetwork } from "../site/site-network.ts";

export const SWITCH = "switch";
export const MACHINE_PORT = "machine";
export const NODE_LINK = "eth0";
const NOWHERE = "nowhere";
/** The node's ends of the links that the CNI plugin makes. */
export const POD_LINKS = "veth*";
/** The lowest priority: any other route to the same addresses wins. */
const CLAIM_METRIC = "65000";

/** How nodes reach others. */
export interface Uplink {
  /** Whether there is a way out by this machine. */
  readonly isOpen: boolean;
  /** The largest packet on the links. */
  readonly mtu: number;
}

export interface NodeAddress {
  readonly index: number;
  readonly ip: string;
  /** With dual-stack Pods. */
  readonly ip6?: string;
}

export async function ensureSwitch(site: SiteNames, network: SiteNetwork, mtu: number): Promise<void> {
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
      `link set ${MACHINE_PORT} mtu ${mtu} master ${SWITCH} up`,
      ...(network.ingressIp6 === undefined ? [] : [address6(network.ingressIp6, SWITCH)]),
    ],
    switchNamespace,
  );
  await ipAll([
    `address replace ${network.machineIp}/${network.prefixLength} dev ${machineLink}`,
    `link set ${machineLink} mtu ${mtu} up`,
    ...(network.machineIp6 === undefined ? [] : [address6(network.machineIp6, machineLink)]),
  ]);
  for (const range of network.podRanges) await claimPodRange(range, machineLink);
}

/**
 * Marks the range as used for other clusters of this machine, before a node has a part of it. Removed with the link.
 */
async function claimPodRange(podRange: string, machineLink: string): Promise<void> {
  await ip(["route", "add", podRange, "dev", machineLink, "metric", CLAIM_METRIC]).catch((error: unknown) => {
    if (!(error instanceof CommandError && error.message.includes("File exists"))) throw error;
  });
}

/** `makeNamespace`: where not any network namespace will do. */
export async function ensureNodeLink(
  { switchNamespace }: SiteNames,
  { namespace }: NodeNames,
  { index, ip: address, ip6 }: NodeAddress,
  { prefixLength, machineIp, machineIp6 }: SiteNetwork,
  { isOpen, mtu }: Uplink,
  makeNamespace?: () => Promise<void>,
): Promise<void> {
  const port = `node-${index}`;
  await ensureNamespace(namespace, makeNamespace);
  if (!(await hasLink(NODE_LINK, namespace))) {
    await ipAll([`link add ${port} type veth peer name ${NODE_LINK} netns ${namespace}`], switchNamespace);
  }
  // A bridge without ports: packets without another route end there, and fail after seconds as unreachable.
  if (!(await hasLink(NOWHERE, namespace))) await ipAll([`link add ${NOWHERE} type bridge`], namespace);
  await ipAll([`link set ${port} mtu ${mtu} master ${SWITCH} up`], switchNamespace);
  const out = (gateway: string | undefined) =>
    isOpen && gateway !== undefined ? `via ${gateway} dev ${NODE_LINK}` : `dev ${NOWHERE}`;
  await ipAll(
    [
      "link set lo up",
      `address replace ${address}/${prefixLength} dev ${NODE_LINK}`,
      `link set ${NODE_LINK} mtu ${mtu} up`,
      `link set ${NOWHERE} up`,
      `route replace default ${out(machineIp)} src ${address}`,
    ],
    namespace,
  );
  const inNamespace = namespacePath(namespace);
  await run("nft", ["-f", "-"], { input: senderRules(POD_LINKS), inNamespace });
  await run("sh", ["-c", arpSenderScript(POD_LINKS)], { inNamespace });
  const forward = (file: string) => run("sh", ["-c", `echo 1 > /proc/sys/net/${file}`], { inNamespace });
  await forward("ipv4/ip_forward");
  if (ip6 === undefined) return;
  await forward("ipv6/conf/all/forwarding");
  await ipAll([address6(ip6, NODE_LINK)], namespace);
  await ip(["-6", "route", "replace", "default", ...out(machineIp6).split(" "), "src", ip6], namespace);
}

/** Addresses are assigned once: duplicate address detection, which takes a second, is not needed. */
function address6(address: string, link: string): string {
  return `address replace ${address}/${PREFIX_LENGTH_V6} dev ${link} nodad`;
}

async function ensureNamespace(
  namespace: string,
  make: () => Promise<unknown> = () => run("ip", ["netns", "add", namespace]),
): Promise<void> {
  if (await isNamespace(namespace)) return;
  // A restart of the machine may leave the file without a namespace.
  if (existsSync(namespacePath(namespace))) await run("ip", ["netns", "delete", namespace]);
  await make();
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

/** The kernel destroys a namespace asynchronously. Its link is deleted at once, so that a new one may have the name. */
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
