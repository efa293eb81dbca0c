/**
 * The table of the proxy without any Service: sets, maps, and the chains that look things up in them.
 *
 *     prerouting, output ──► vips ──► pick-N ──► dnat            (addressed to a Service: another address)
 *     input, forward, output ──► refused · dropped · guarded     (nobody there, or not for everybody)
 *     postrouting ──► hairpins · masqueraded ──► masquerade      (whose answers have to come back here)
 */
import type { Family } from "../virtual-addresses.ts";
import { PROTOCOLS, type SetName } from "./elements.ts";

export const TABLE = "k8ts-proxy";

interface FamilyWords {
  readonly family: "ip" | "ip6";
  readonly address: "ipv4_addr" | "ipv6_addr";
}

export function wordsOf(family: Family): FamilyWords {
  return family === "IPv4" ? { family: "ip", address: "ipv4_addr" } : { family: "ip6", address: "ipv6_addr" };
}

/** Replaces whatever is there under this name. */
export function emptyTable(family: Family, podCidrs: readonly string[]): string {
  const { family: ip, address } = wordsOf(family);
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

/** Their rules, after the line that says where they hook in, if they do. */
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
        // A process of the node itself does not hear of an unreachable port while it is still connecting; it hears a reset.
        `${asked} @refused meta l4proto tcp reject with tcp reset`,
        `${asked} @refused reject`,
        // An address of a Service has no other ports.
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

/** Always the same, so that a table that is made anew sends clients to where they were sent before. */
const SEED = "0x6b387473";

/**
 * Chains that send to one of so many endpoints. Clients of IPv4 that stick are remembered. Of IPv6 they cannot be: nft 1.0.6 ends with a failed assertion
 * over any rule that would learn two addresses. There the client's address itself decides, for as long as the endpoints stay the same.
 */
export function pickChains(ip: "ip" | "ip6", count: number): string {
  const asked = `${ip} daddr . meta l4proto . th dport`;
  const dnat = `meta l4proto { tcp, udp, sctp } dnat ${ip} to`;
  const choose = (map: string) => `${dnat} ${asked} . numgen random mod ${count} map @${map}`;
  const stick = (map: string) =>
    ip === "ip"
      ? [`${dnat} ${ip} saddr . ${asked} map @affinity`, choose(map)]
      : [`${dnat} ${asked} . jhash ${ip} saddr mod ${count} seed ${SEED} map @${map}`];
  return [
    chain(ip, `pick-${count}`, [choose("endpoints")]),
    chain(ip, `pick-inside-${count}`, [choose("endpoints-inside")]),
    chain(ip, `stick-${count}`, stick("endpoints")),
    chain(ip, `stick-inside-${count}`, stick("endpoints-inside")),
  ].join("\n");
}

/** Remembers for so long which endpoint a client of IPv4 got. */
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
