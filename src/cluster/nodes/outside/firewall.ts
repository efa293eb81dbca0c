/**
 * The rules of this machine for a cluster with a way out: a table of its own, removed with the cluster. Pure.
 *
 *     node, Pod ──► prerouting: is it for this machine? ──► doors, or dropped
 *                   forward ──► the machine's other links, never the cluster's own ranges or another cluster
 *                   postrouting ──► masqueraded: nobody outside has a route to Pods
 *
 * 1. What is for an address of this machine is decided before any address translation of others: ports that another
 *    program publishes by translation are no doors either.
 * 2. Nobody outside opens connections to nodes and Pods by way of this machine.
 * 3. If this machine forwarded nothing before, it still forwards nothing between links that it had then.
 * 4. Segments of TCP fit the smallest link, also where reports about packets that are too large get lost.
 */
import { doorRules, type MachinePorts } from "../network/machine-guard.ts";
import type { SiteNames } from "../site/names.ts";
import type { SiteNetwork } from "../site/site-network.ts";
import { PREFIX_LENGTH_V6 } from "../site/site-network.ts";

export interface WayOut {
  readonly ports: MachinePorts;
  readonly serviceRanges: readonly string[];
  /** Links of this machine between which nothing was forwarded. */
  readonly unforwarded: readonly string[];
}

export function tableOf({ machineLink }: Pick<SiteNames, "machineLink">): string {
  return `inet ${machineLink}`;
}

/** Replaces the table. */
export function firewallScript(
  site: Pick<SiteNames, "machineLink">,
  network: SiteNetwork,
  { ports, serviceRanges, unforwarded }: WayOut,
): string {
  const table = tableOf(site);
  const link = JSON.stringify(site.machineLink);
  const { machineIp, machineIp6, prefixLength, podRanges, balancerRange } = network;
  const nodes = [
    `${machineIp}/${prefixLength}`,
    ...(machineIp6 === undefined ? [] : [`${machineIp6}/${PREFIX_LENGTH_V6}`]),
  ];
  const senders = [...nodes, ...podRanges];
  const own = [...senders, ...serviceRanges, balancerRange];
  const families = [
    ["ip", own.filter((cidr) => !cidr.includes(":")), senders.filter((cidr) => !cidr.includes(":"))],
    ["ip6", own.filter((cidr) => cidr.includes(":")), senders.filter((cidr) => cidr.includes(":"))],
  ] as const;
  const each = (line: (ip: "ip" | "ip6", own: string, senders: string) => string) =>
    families.flatMap(([ip, all, from]) =>
      from.length === 0 ? [] : [`    ${line(ip, all.join(", "), from.join(", "))}`],
    );
  const names = unforwarded.map((name) => JSON.stringify(name)).join(", ");
  return [
    `table ${table}`,
    `delete table ${table}`,
    `table ${table} {`,
    "  chain prerouting {",
    // After connection tracking, before translation of addresses.
    "    type filter hook prerouting priority mangle; policy accept;",
    `    iifname ${link} fib daddr type { local, broadcast, anycast, multicast } jump to-machine`,
    "  }",
    "  chain to-machine {",
    "    ct state established,related accept",
    "    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept",
    ...doorRules(network, ports).map((rule) => `    ${rule}`),
    "    drop",
    "  }",
    "  chain forward {",
    "    type filter hook forward priority filter; policy accept;",
    `    iifname ${link} jump from-cluster`,
    `    oifname ${link} jump to-cluster`,
    ...(unforwarded.length < 2 ? [] : [`    iifname { ${names} } oifname { ${names} } drop`]),
    "  }",
    "  chain from-cluster {",
    // Addresses of the cluster that nobody has, and other clusters of this machine.
    ...each(
      (ip, all) => `${ip} daddr { ${all} } reject with ${ip === "ip" ? "icmp net-unreachable" : "icmpv6 no-route"}`,
    ),
    `    oifname "k8ts-*" drop`,
    ...each((ip, _, from) => `${ip} saddr != { ${from} } drop`),
    ...(families[1][2].length > 0 ? [] : ["    meta nfproto ipv6 drop"]),
    "    tcp flags syn / syn,rst tcp option maxseg size set rt mtu",
    "  }",
    "  chain to-cluster {",
    "    tcp flags syn / syn,rst tcp option maxseg size set rt mtu",
    "    ct state established,related accept",
    "    drop",
    "  }",
    "  chain postrouting {",
    "    type nat hook postrouting priority srcnat; policy accept;",
    ...each((ip, _, from) => `oifname != ${link} ${ip} saddr { ${from} } masquerade`),
    "  }",
    "}",
    "",
  ].join("\n");
}
