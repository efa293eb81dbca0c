/**
 * What nodes and their Pods reach of this machine: the API server, the pull proxy, the DNS relay, and registries and
 * ports of this machine that the user has named. The rules are on the switch, which k8ts has made; the machine's own
 * firewall is not touched.
 *
 *     node, Pod ──► switch ──► forward to the port `machine`: allowed, or dropped
 *
 * 1. The machine's own connections, and what it routes to load balancers, get their replies: TCP by its flags,
 *    datagrams by what the machine has sent. The kernel may have no connection tracking for bridges.
 * 2. The pull proxy, the DNS relay and registries are for nodes: packets with the sender of a Pod do not pass.
 * 3. With a way out, packets for other addresses pass: the rules of `outside/firewall.ts` decide about them, which know
 *    what is an address of this machine.
 */
import type { HostPort } from "../../config/cluster-config.ts";
import { run } from "../machine/command.ts";
import type { NamedRegistry } from "../site/mirrors.ts";
import { namespacePath, type SiteNames } from "../site/names.ts";
import type { SiteNetwork } from "../site/site-network.ts";
import { MACHINE_PORT } from "./links.ts";

const TABLE = "k8ts-machine";
/** How long replies to a datagram are awaited. */
const REPLY = "3m";

type Guarded = Pick<SiteNetwork, "machineIp" | "machineIp6" | "prefixLength">;

export interface MachinePorts {
  readonly apiServer: number;
  readonly pullProxy: number;
  /** Undefined: nodes ask nobody outside. */
  readonly dnsRelay?: number | undefined;
  /** What the user shows to Pods, at `host.k8ts.internal`. */
  readonly hostPorts?: readonly HostPort[] | undefined;
  /** Registries that the user has named; those on this machine count. */
  readonly registries: readonly NamedRegistry[];
}

/** What nodes and Pods reach of this machine. */
export function doorRules({ machineIp, machineIp6, prefixLength }: Guarded, ports: MachinePorts): string[] {
  const { apiServer, pullProxy, dnsRelay, hostPorts = [], registries } = ports;
  const own = registries.filter(({ host }) => host === machineIp).map(({ port }) => port);
  const relay = dnsRelay === undefined ? [] : [dnsRelay];
  const forNodes = [...new Set([pullProxy, ...own, ...relay])].join(", ");
  const forPods = [{ port: apiServer, protocol: "tcp" }, ...hostPorts];
  const addresses = [`ip daddr ${machineIp}`, ...(machineIp6 === undefined ? [] : [`ip6 daddr ${machineIp6}`])];
  const nodes = `ip saddr ${machineIp}/${prefixLength} ip daddr ${machineIp}`;
  return [
    ...addresses.flatMap((daddr) => forPods.map(({ port, protocol }) => `${daddr} ${protocol} dport ${port} accept`)),
    `${nodes} tcp dport { ${forNodes} } accept`,
    ...relay.map((port) => `${nodes} udp dport ${port} accept`),
  ];
}

/** Replaces the table. `hasWayOut`: whether packets for others than this machine may pass. */
export function machineGuard(network: Guarded, ports: MachinePorts, hasWayOut = false): string {
  const { machineIp, machineIp6 } = network;
  const passing = [
    `ip daddr != ${machineIp}`,
    ...(machineIp6 === undefined ? [] : [`ip6 daddr != ${machineIp6} ip6 daddr != { fe80::/10, ff00::/8 }`]),
  ];
  const asked = (ip: "ip" | "ip6", type: string) => [
    `  set asked-${ip} { type ${type} . inet_service . inet_service; flags dynamic,timeout; size 65536; }`,
  ];
  const remember = (ip: "ip" | "ip6") =>
    `    iifname "${MACHINE_PORT}" meta protocol ${ip} meta l4proto udp update @asked-${ip} { ${ip} daddr . udp dport . udp sport timeout ${REPLY} }`;
  return [
    `table bridge ${TABLE}`,
    `delete table bridge ${TABLE}`,
    `table bridge ${TABLE} {`,
    ...asked("ip", "ipv4_addr"),
    ...asked("ip6", "ipv6_addr"),
    "  chain forward {",
    "    type filter hook forward priority 0; policy accept;",
    remember("ip"),
    remember("ip6"),
    `    oifname "${MACHINE_PORT}" jump to-machine`,
    "  }",
    "  chain to-machine {",
    "    ether type arp accept",
    "    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert, echo-reply, destination-unreachable, packet-too-big, time-exceeded } accept",
    "    icmp type { echo-reply, destination-unreachable, time-exceeded, parameter-problem } accept",
    "    meta l4proto tcp tcp flags & (syn | ack) != syn accept",
    "    meta protocol ip meta l4proto udp ip saddr . udp sport . udp dport @asked-ip accept",
    "    meta protocol ip6 meta l4proto udp ip6 saddr . udp sport . udp dport @asked-ip6 accept",
    ...doorRules(network, ports).map((rule) => `    ${rule}`),
    ...(hasWayOut ? passing.map((rule) => `    ${rule} accept`) : []),
    "    drop",
    "  }",
    "}",
    "",
  ].join("\n");
}

export async function applyMachineGuard({ switchNamespace }: SiteNames, script: string): Promise<void> {
  await run("nft", ["-f", "-"], { input: script, inNamespace: namespacePath(switchNamespace) });
}
