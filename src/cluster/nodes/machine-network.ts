/**
 * The network of a node that is the machine itself: the node has the machine's network namespace, by a name of its own,
 * so that everything else about nodes is as ever. Pods get routes to other machines from the node's network agent.
 *
 *     ensureLink ──► name of the namespace ──► forwarding, senders of Pods, firewalls of others
 *     leaveMachine ──► all of it as it was
 *
 * 1. No link and no address of the machine is touched, but the loopback device, which gets that of the cluster's DNS.
 * 2. What was set before is recorded in /run before it is changed.
 */
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, Random } from "#base";
import { arpSenderScript, senderRules } from "#network";
import { ClusterError } from "../config/errors.ts";
import { writeFileAtomic } from "../data/data-dir.ts";
import { run } from "./machine/command.ts";
import { ip } from "./machine/ip.ts";
import { POD_LINKS } from "./network/links.ts";
import type { NodeNetwork } from "./node-network.ts";
import { claimForwarding, releaseForwarding } from "./outside/forwarding.ts";
import { leaveOtherFirewalls, passOtherFirewalls } from "./outside/other-firewalls.ts";
import { type NodeNames, namespacePath, type SiteNames } from "./site/names.ts";
import type { NodeRun } from "./site/record.ts";
import { USUAL_POD_RANGE } from "./site/site-network.ts";

/** Of loopback, where other programs of the machine listen too: not the usual ones of proxies. */
const RELAYS = { host: "127.0.0.1", pullProxy: 13_128, dns: 13_153 };
/** What VXLAN takes of each packet: Pods send none that another machine would not get. */
const TUNNEL_BYTES = { 4: 50, 6: 70 };
/** The link by which a claim counts as alive: a machine always has it. */
const LOOPBACK = "lo";
const CNI_NETWORK = "k8ts";
const ARP_CHECK = "/proc/sys/net/ipv4/conf/default/rp_filter";

/** The only node's address. */
export interface MachineAddress {
  readonly address: string;
  /** Of the other IP family. */
  readonly address6?: string | undefined;
}

interface MachineNetworkOptions extends MachineAddress {
  readonly podRanges?: readonly string[] | undefined;
  readonly outside: boolean;
  readonly clock: Clock;
  readonly random: Random;
}

/** Throws ClusterError if the machine does not have the address. */
export async function openMachineNetwork(site: SiteNames, options: MachineNetworkOptions): Promise<NodeNetwork> {
  const { address, address6, podRanges = [USUAL_POD_RANGE], outside, clock, random } = options;
  const { mtu } = await linkOf(address);
  const { pullSecret } = await ensureRecord(site, random);
  return {
    kind: "machine",
    machineIp: address,
    machineIp6: address6,
    podRanges,
    mtu: mtu - TUNNEL_BYTES[address.includes(":") ? 6 : 4],
    maxNodes: 1,
    relays: RELAYS,
    pullSecret,
    agent: { overlay: "auto", masqueradesOutside: outside },
    addressesOf: () => ({ ip: address, ...(address6 !== undefined && { ip6: address6 }) }),
    keep: async () => {},
    ensureLink: (names, node) => ensureLink(site, names, node, podRanges, clock),
    route: async () => {},
  };
}

interface LinkJson {
  readonly ifname?: string;
  readonly mtu?: number;
  readonly addr_info?: readonly { readonly local?: string }[];
}

/** The link that has the address. */
async function linkOf(address: string): Promise<{ readonly mtu: number }> {
  const links = JSON.parse((await ip(["-j", "address", "show"])) || "[]") as readonly LinkJson[];
  const link = links.find(({ addr_info = [] }) => addr_info.some(({ local }) => local === address));
  if (link === undefined || link.ifname === LOOPBACK)
    throw new ClusterError(
      link === undefined
        ? `${address} is not an address of this machine: \`ip address\` lists them.`
        : `${address} is an address of the loopback device: other machines do not reach it.`,
    );
  return { mtu: link.mtu ?? 1500 };
}

interface MachineRecord {
  readonly pullSecret: string;
}

async function ensureRecord(site: SiteNames, random: Random): Promise<MachineRecord> {
  const file = join(site.nodesDir, "machine.json");
  if (existsSync(file)) return JSON.parse(await readFile(file, "utf8")) as MachineRecord;
  const made = { pullSecret: Buffer.from(random.bytes(16)).toString("hex") };
  await mkdir(site.nodesDir, { recursive: true, mode: 0o700 });
  await writeFileAtomic(file, `${JSON.stringify(made)}\n`);
  return made;
}

async function ensureLink(
  site: SiteNames,
  { namespace, machineState }: NodeNames,
  node: NodeRun,
  podRanges: readonly string[],
  clock: Clock,
): Promise<void> {
  await nameNamespace(namespace);
  if (!existsSync(machineState)) {
    const before = { arpCheck: (await readFile(ARP_CHECK, "utf8")).trim() };
    await mkdir(site.runDir, { recursive: true, mode: 0o700 });
    await writeFile(machineState, JSON.stringify(before), { mode: 0o600 });
  }
  await run("nft", ["-f", "-"], { input: senderRules(POD_LINKS) });
  await run("sh", ["-c", arpSenderScript(POD_LINKS)]);
  const hasV6 = [node.ip, node.ip6 ?? ""].some((each) => each.includes(":"));
  await claimForwarding({ id: site.id, machineLink: LOOPBACK }, hasV6 ? ["ipv4", "ipv6"] : ["ipv4"], clock);
  await passOtherFirewalls(site, podRules(site, podRanges));
}

/** Where a firewall of others refuses to forward: packets from and to Pods pass. */
function podRules({ machineLink }: SiteNames, podRanges: readonly string[]) {
  const named = ["-m", "comment", "--comment", machineLink, "-j", "ACCEPT"];
  return (program: string) =>
    podRanges
      .filter((cidr) => cidr.includes(":") === (program === "ip6tables"))
      .flatMap((cidr) => [
        ["-s", cidr, ...named],
        ["-d", cidr, ...named],
      ]);
}

/** A restart of the machine may leave the file without a namespace, or with another one. */
async function nameNamespace(namespace: string): Promise<void> {
  const path = namespacePath(namespace);
  if (existsSync(path)) {
    if ((await stat(path)).ino === (await stat("/proc/self/ns/net")).ino) return;
    await run("ip", ["netns", "delete", namespace]);
  }
  await run("ip", ["netns", "attach", namespace, String(process.pid)]);
}

/** Removes what the node has left in the machine's network. Its processes have ended. */
export async function leaveMachine(
  site: SiteNames,
  { namespace, machineState }: NodeNames,
  node: NodeRun | undefined,
  clock: Clock,
): Promise<void> {
  if (!existsSync(namespacePath(namespace))) return;
  const { removeNodeNetwork } = await import("#network");
  await removeNodeNetwork(CNI_NETWORK, new AbortController().signal);
  await leaveOtherFirewalls(site);
  for (const address of node?.dnsAddresses ?? [])
    await ip(["address", "delete", `${address}/${address.includes(":") ? 128 : 32}`, "dev", LOOPBACK]).catch(() => {}); // it is gone
  await releaseForwarding({ id: site.id }, clock);
  if (existsSync(machineState)) {
    const { arpCheck } = JSON.parse(await readFile(machineState, "utf8")) as { readonly arpCheck: string };
    await writeFile(ARP_CHECK, `${arpCheck}\n`);
    await rm(machineState);
  }
  // The name alone: the network stays.
  await run("ip", ["netns", "delete", namespace]);
}
