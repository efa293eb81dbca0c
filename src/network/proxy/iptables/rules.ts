/**
 * A Service in iptables: for each address and port one chain that picks an endpoint, and rules in shared chains.
 *
 * 1. All chains begin with K8TS-. A chain's name follows from the address and port alone, so a change of endpoints
 *    touches that chain and nothing else.
 * 2. Packets to be masqueraded carry one bit of the packet mark, which is cleared again.
 * 3. Nothing is dropped in the nat table: packets without an endpoint keep their destination and are refused in the
 *    filter table.
 */
import { createHash } from "node:crypto";
import type { Endpoint } from "../endpoints.ts";
import type { VirtualAddress } from "../virtual-addresses.ts";

export type Table = "nat" | "filter";

/** A rule in a shared chain. */
export interface Line {
  readonly table: Table;
  readonly chain: SharedChain;
  readonly rule: string;
}

export type SharedChain = "K8TS-SERVICES" | "K8TS-HAIRPIN" | "K8TS-ABSENT" | "K8TS-CLUSTER-IPS";

/** A chain of the nat table for one address and port. */
export interface OwnChain {
  readonly name: string;
  readonly rules: readonly string[];
}

export interface Compiled {
  readonly lines: readonly Line[];
  readonly chains: readonly OwnChain[];
}

export const OWN_PREFIX = "K8TS-SVC-";
const LOCAL = "-m addrtype --src-type LOCAL";

export function compiled(vip: VirtualAddress, podCidrs: readonly string[]): Compiled {
  const { address, protocol, port, endpoints, endpointsFromInside = [], sourceRanges } = vip;
  const to = `-d ${host(address)} -p ${protocol} -m ${protocol} --dport ${port}`;
  const name = chainOf(vip);
  const chains: OwnChain[] = [];
  const rules = [...masquerades(vip)];
  if (endpointsFromInside.length > 0) {
    const inside = `${name}-IN`;
    chains.push({ name: inside, rules: picks(vip, endpointsFromInside) });
    rules.push(...podCidrs.map((cidr) => `-s ${cidr} -j ${inside}`), `${LOCAL} -j ${inside}`);
  }
  rules.push(...picks(vip, endpoints));
  const lines: Line[] = [];
  if (endpoints.length + endpointsFromInside.length > 0) {
    chains.push({ name, rules });
    const froms = sourceRanges === undefined ? [""] : [...sourceRanges.map((range) => `-s ${range} `), `${LOCAL} `];
    lines.push(...froms.map((from) => line("nat", "K8TS-SERVICES", `${from}${to} -j ${name}`)));
  }
  for (const each of new Set([...endpoints, ...endpointsFromInside].filter(({ isLocal }) => isLocal)))
    lines.push(line("nat", "K8TS-HAIRPIN", hairpin(each)));
  if (endpoints.length === 0)
    lines.push(line("filter", "K8TS-ABSENT", `${to} -j ${vip.whenEmpty === "reject" ? "K8TS-REFUSE" : "DROP"}`));
  else if (sourceRanges !== undefined) lines.push(line("filter", "K8TS-ABSENT", `${to} -j DROP`));
  // A cluster IP has no other ports.
  if (vip.masquerade === "outsiders")
    lines.push(line("filter", "K8TS-CLUSTER-IPS", `-d ${host(address)} -j K8TS-REFUSE`));
  return { lines, chains };
}

function masquerades({ masquerade }: VirtualAddress): string[] {
  if (masquerade === "nobody") return [];
  return [`-j ${masquerade === "everybody" ? "K8TS-MARK" : "K8TS-MARK-OUTSIDERS"}`];
}

/** Picks one with equal probability; with session affinity, the client's endpoint first. */
function picks(vip: VirtualAddress, endpoints: readonly Endpoint[]): string[] {
  const { protocol, affinitySeconds } = vip;
  const dnat = (endpoint: Endpoint, matches: string) =>
    `-p ${protocol} ${matches}-j DNAT --to-destination ${target(endpoint)}`;
  const list = (endpoint: Endpoint) => `-m recent --name K8TS-${hash(`${idOf(vip)} ${target(endpoint)}`)}`;
  const remembered = endpoints.map((endpoint) =>
    dnat(endpoint, `${list(endpoint)} --update --seconds ${affinitySeconds} --reap `),
  );
  const chosen = endpoints.map((endpoint, at) => {
    const left = endpoints.length - at;
    const chance = left === 1 ? "" : `-m statistic --mode random --probability ${(1 / left).toFixed(11)} `;
    return dnat(endpoint, affinitySeconds === undefined ? chance : `${chance}${list(endpoint)} --set `);
  });
  return affinitySeconds === undefined ? chosen : [...remembered, ...chosen];
}

/** A Pod that reaches itself through a Service: without masquerading, the reply would bypass conntrack. */
function hairpin({ address }: Endpoint): string {
  return `-s ${host(address)} -d ${host(address)} -m conntrack --ctstate DNAT -j MASQUERADE`;
}

function chainOf(vip: VirtualAddress): string {
  return `${OWN_PREFIX}${hash(idOf(vip))}`;
}

function idOf({ address, protocol, port }: VirtualAddress): string {
  return `${address} ${protocol} ${port}`;
}

/** Chain names are limited to 28 characters. */
function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16).toUpperCase();
}

function host(address: string): string {
  return `${address}/${address.includes(":") ? 128 : 32}`;
}

function target({ address, port }: Endpoint): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

function line(table: Table, chain: SharedChain, rule: string): Line {
  return { table, chain, rule };
}
