/**
 * The chains that exist without any Service, and the rules in the built-in chains that jump to them.
 *
 *     PREROUTING, OUTPUT ──► K8TS-SERVICES ──► K8TS-SVC-… ──► DNAT
 *     INPUT, FORWARD, OUTPUT ──► K8TS-FILTER ──► K8TS-ABSENT, K8TS-CLUSTER-IPS
 *     POSTROUTING ──► K8TS-POSTROUTING ──► K8TS-HAIRPIN, marked packets ──► MASQUERADE
 */
import type { SharedChain, Table } from "./rules.ts";

/** One bit that no other program is known to use. */
const MARK = "0x20000";

/** Chains that Services add rules to. */
export const SHARED: Readonly<Record<Table, readonly SharedChain[]>> = {
  nat: ["K8TS-SERVICES", "K8TS-HAIRPIN"],
  filter: ["K8TS-ABSENT", "K8TS-CLUSTER-IPS"],
};

export function fixedChains(
  podCidrs: readonly string[],
): Readonly<Record<Table, ReadonlyMap<string, readonly string[]>>> {
  const mark = `-j MARK --or-mark ${MARK}`;
  return {
    nat: new Map([
      ["K8TS-MARK", [mark]],
      ["K8TS-MARK-OUTSIDERS", [...podCidrs.map((cidr) => `-s ${cidr} -j RETURN`), mark]],
      [
        "K8TS-POSTROUTING",
        [
          "-j K8TS-HAIRPIN",
          `-m mark ! --mark ${MARK}/${MARK} -j RETURN`,
          `-j MARK --xor-mark ${MARK}`,
          "-j MASQUERADE --random-fully",
        ],
      ],
    ]),
    filter: new Map([
      // Processes of the node itself see a TCP reset while they connect, but no ICMP error.
      ["K8TS-REFUSE", ["-p tcp -j REJECT --reject-with tcp-reset", "-j REJECT"]],
      ["K8TS-FILTER", ["-j K8TS-ABSENT", "-j K8TS-CLUSTER-IPS"]],
    ]),
  };
}

export interface Hook {
  readonly table: Table;
  readonly chain: string;
  readonly rule: readonly string[];
}

export const HOOKS: readonly Hook[] = [
  ...["PREROUTING", "OUTPUT"].map((chain) => hook("nat", chain, "-j", "K8TS-SERVICES")),
  hook("nat", "POSTROUTING", "-j", "K8TS-POSTROUTING"),
  ...["INPUT", "FORWARD", "OUTPUT"].map((chain) =>
    hook("filter", chain, "-m", "conntrack", "--ctstate", "NEW", "-j", "K8TS-FILTER"),
  ),
];

function hook(table: Table, chain: string, ...rule: string[]): Hook {
  return { table, chain, rule };
}
