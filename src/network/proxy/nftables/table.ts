/**
 * The proxy's table without any Service: sets, maps, and the chains that look things up in them.
 *
 *     prerouting, output ──► vips ──► pick-N ──► dnat            (to an endpoint of a Service)
 *     input, forward, output ──► refused · dropped · guarded     (no endpoint, or source not allowed)
 *     postrouting ──► hairpins · masqueraded ──► masquerade      (replies have to return through this node)
 */
import { type Family, nftNames } from "../../kernel/ip-family.ts";
import { PROTOCOLS, type SetName } from "./elements.ts";

export const TABLE = "k8ts-proxy";

/** Replaces the table. */
export function emptyTable(family: Family, podCidrs: readonly string[]): string {
  const { family: ip, address } = nftNames(family);
  const vip = `${address} . inet_proto . inet_service`;
  const set = (name: SetName | "pods", type: string, more = "") => `  set ${name} { type ${type}; ${more}}`;
  const slots = `typeof ${ip} daddr . meta l4proto . th dport . numgen random mod 65536 : ${ip} daddr . th dport;`;
  return [
    `table ${ip} ${TABLE}`,
    `delete table ${ip} ${TABLE}`,
    `table ${ip} ${TABLE} {`,
    set("pods", address, `flags interval; ${podCidrs.length > 0 ? `elements = { ${podCidrs.join(", ")} }; ` : ""}`),
    `  map vips { type ${vip} : verdict; }`,
    `  map vips-inside { type ${vip} : verdict; }`,
    `  map endpoints { ${slots} }`,
    `  map endpoints-inside { ${slots} }`,
    `  map sticky { type ${vip} : verdict; }`,
    `  map affinity { type ${address} . ${vip} : ${address} . inet_service; flags dynamic,timeout; timeout 3h; size 262144; }`,
    set("masqueraded", vip),
    set("masqueraded-outsiders", vip),
    set("hairpins", `${address} . ${address}`),
    set("guarded", vip),
    set("allowed", `${vip} . ${address}`, "flags interval; "),
    set("refused", vip),
    set("dropped", vip),
    set("cluster-ips", address),
    "}",
    ...[...chains(ip)].map(([name, rules]) => chain(ip, name, rules)),
  ].join("\n");
}

/** Rules by chain; the first line of a base chain is its hook. */
function chains(ip: "ip" | "ip6"): Map<string, readonly string[]> {
  const asked = `${ip} daddr . meta l4proto . th dport`;
  const loopback = ip === "ip" ? "127.0.0.0/8" : "::1";
  const original = (protocol: string) =>
    `meta l4proto ${protocol} ct original ${ip} daddr . meta l4proto . ct original proto-dst`;
  return new Map([
    [
      "services",
      [
        `${ip} daddr ${loopback} return`,
        `${ip} saddr @pods ${asked} vmap @vips-inside`,
        `fib saddr type local ${asked} vmap @vips-inside`,
        `${asked} vmap @vips`,
      ],
    ],
    ["nat-prerouting", ["type nat hook prerouting priority dstnat; policy accept;", "jump services"]],
    ["nat-output", ["type nat hook output priority -100; policy accept;", "jump services"]],
    [
      "guard",
      [
        "type filter hook prerouting priority dstnat - 10; policy accept;",
        `ct state new ${asked} @guarded ${asked} . ${ip} saddr != @allowed drop`,
      ],
    ],
    [
      "absent",
      [
        `${asked} @dropped drop`,
        // Processes of the node itself see a TCP reset while they connect, but no ICMP error.
        `${asked} @refused meta l4proto tcp reject with tcp reset`,
        `${asked} @refused reject`,
        // A cluster IP has no other ports.
        `${ip} daddr @cluster-ips meta l4proto tcp reject with tcp reset`,
        `${ip} daddr @cluster-ips reject`,
      ],
    ],
    ...["input", "forward", "output"].map((hook): [string, string[]] => [
      `filter-${hook}`,
      [`type filter hook ${hook} priority 0; policy accept;`, "ct state new jump absent"],
    ]),
    [
      "learn",
      [
        "type filter hook postrouting priority mangle; policy accept;",
        ...PROTOCOLS.map((protocol) => `ct state new ct status dnat ${original(protocol)} vmap @sticky`),
      ],
    ],
    [
      "nat-postrouting",
      [
        "type nat hook postrouting priority srcnat; policy accept;",
        `ct status dnat ${ip} saddr . ${ip} daddr @hairpins masquerade`,
        ...PROTOCOLS.map((protocol) => `ct status dnat ${original(protocol)} @masqueraded masquerade`),
        ...PROTOCOLS.map(
          (protocol) =>
            `ct status dnat ct original ${ip} saddr != @pods ${original(protocol)} @masqueraded-outsiders masquerade`,
        ),
      ],
    ],
  ]);
}

/** Constant, so that a replaced table sends clients to the same endpoints as before. */
const SEED = "0x6b387473";

/**
 * Chains that send to one of `count` endpoints. With session affinity, IPv4 clients are remembered in a map. For IPv6
 * that is impossible: nft 1.0.6 fails an assertion on rules that would store two addresses. There a hash of the
 * client's address decides, which is stable while the endpoints stay the same.
 */
export function pickChains(ip: "ip" | "ip6", count: number): string {
  const asked = `${ip} daddr . meta l4proto . th dport`;
  const dnat = `meta l4proto { tcp, udp, sctp } dnat ${ip} to`;
  const pick = (map: string) => `${dnat} ${asked} . numgen random mod ${count} map @${map}`;
  const stick = (map: string) =>
    ip === "ip"
      ? [`${dnat} ${ip} saddr . ${asked} map @affinity`, pick(map)]
      : [`${dnat} ${asked} . jhash ${ip} saddr mod ${count} seed ${SEED} map @${map}`];
  return [
    chain(ip, `pick-${count}`, [pick("endpoints")]),
    chain(ip, `pick-inside-${count}`, [pick("endpoints-inside")]),
    chain(ip, `stick-${count}`, stick("endpoints")),
    chain(ip, `stick-inside-${count}`, stick("endpoints-inside")),
  ].join("\n");
}

/** Remembers which endpoint an IPv4 client got. */
export function learnChain(ip: "ip" | "ip6", seconds: number): string {
  if (ip === "ip6") return chain(ip, `learn-${seconds}`, []);
  const client = `ct original ${ip} saddr . ct original ${ip} daddr . meta l4proto . ct original proto-dst`;
  return chain(
    ip,
    `learn-${seconds}`,
    PROTOCOLS.map(
      (protocol) =>
        `meta l4proto ${protocol} update @affinity { ${client} timeout ${seconds}s : ${ip} daddr . ${protocol} dport }`,
    ),
  );
}

function chain(ip: "ip" | "ip6", name: string, rules: readonly string[]): string {
  const hook = rules[0]?.startsWith("type ") === true ? `{ ${rules[0]} }` : "";
  return [
    `add chain ${ip} ${TABLE} ${name} ${hook}`,
    ...(hook === "" ? rules : rules.slice(1)).map((rule) => `add rule ${ip} ${TABLE} ${name} ${rule}`),
  ].join("\n");
}
