/**
 * Rules that drop packets of Pods with another sender than the Pod's own address: NetworkPolicies know Pods by address.
 *
 *     Pod's link ──► prerouting: does the route to the sender lead back to this link? ──► no: dropped
 *
 * 1. The CNI plugin's route to a Pod's address is the list of who may send: it comes and goes with the Pod's link, so
 *    these rules never change, need no agent, and cost one route lookup for each packet.
 * 2. Links of other kinds (other nodes, the overlay, the node itself) are not affected.
 * 3. Addresses of IPv6 that are valid on one link only stay allowed there: they are never forwarded. Such a link's
 *    neighbours are no routers, so what only routers send is dropped.
 * 4. ARP has no route lookup in nftables: the kernel's own check (`rp_filter`) makes it ignore senders of other links.
 */
export const TABLE = "k8ts-senders";

/** Replaces the table. `links`: names of Pods' links on the node, such as `veth*`. */
export function senderRules(links: string): string {
  const from = `iifname ${JSON.stringify(links)}`;
  return [
    `table inet ${TABLE}`,
    `delete table inet ${TABLE}`,
    `table inet ${TABLE} {`,
    "  chain prerouting {",
    // Before connection tracking: forged packets leave no trace there.
    "    type filter hook prerouting priority raw; policy accept;",
    `    ${from} fib saddr . iif oif missing drop`,
    `    ${from} icmpv6 type { nd-router-advert, nd-redirect } drop`,
    "  }",
    "}",
    "",
  ].join("\n");
}

/** A shell script that makes the kernel check senders of ARP: on present links of Pods, and on those to come. */
export function arpSenderScript(links: string): string {
  return `cd /proc/sys/net/ipv4/conf && for link in default ${links}; do [ ! -e "$link" ] || echo 1 > "$link/rp_filter"; done`;
}
