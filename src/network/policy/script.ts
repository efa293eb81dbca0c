/**
 * The nft script that turns the present policy rules into the wanted ones: it adds sets and chains, then changes what
 * refers to them, then removes what nothing refers to any more.
 */
import { type Family, nftNames } from "../kernel/ip-family.ts";
import type { PolicyRules } from "./compile.ts";

export const POLICY_TABLE = "k8ts-policy";

/** The rules as plain values, independent of later changes. */
export interface PolicySnapshot {
  readonly chains: ReadonlyMap<string, readonly string[]>;
  readonly sets: ReadonlyMap<string, ReadonlySet<string>>;
  readonly ingress: ReadonlyMap<string, string>;
  readonly egress: ReadonlyMap<string, string>;
  readonly own: ReadonlySet<string>;
}

export const NO_RULES: PolicySnapshot = {
  chains: new Map(),
  sets: new Map(),
  ingress: new Map(),
  egress: new Map(),
  own: new Set(),
};

export function snapshotOf({ chains, groups, ingress, egress, local }: PolicyRules, family: Family): PolicySnapshot {
  const isOurs = (element: string) => element.includes(":") === (family === "IPv6");
  return {
    chains: new Map(chains),
    sets: new Map([...groups].map(([name, group]) => [name, new Set([...group.elements()].filter(isOurs))])),
    ingress: new Map(ingress),
    egress: new Map(egress),
    own: new Set([...local].map((address) => `${address} . ${address}`)),
  };
}

/** Replaces the table by one that drops nothing yet. `nodeDns`: addresses of the node's own DNS server. */
export function emptyPolicyTable(family: Family, nodeDns: readonly string[] = []): string {
  const { family: ip, address } = nftNames(family);
  return [
    `table ${ip} ${POLICY_TABLE}`,
    `delete table ${ip} ${POLICY_TABLE}`,
    `table ${ip} ${POLICY_TABLE} {`,
    `  map ingress { type ${address} : verdict; }`,
    `  map egress { type ${address} : verdict; }`,
    `  set own { type ${address} . ${address}; }`,
    "  chain forward {",
    "    type filter hook forward priority filter - 5; policy accept;",
    // Established connections pass.
    "    ct state established,related accept",
    // A Pod may reach itself, also through a Service.
    `    ${ip} saddr . ${ip} daddr @own accept`,
    `    ${ip} saddr vmap @egress`,
    `    ${ip} daddr vmap @ingress`,
    "  }",
    ...(nodeDns.length === 0
      ? []
      : [
          "  chain input {",
          "    type filter hook input priority filter - 5; policy accept;",
          "    ct state established,related accept",
          // A Pod may always reach everything else on its own node.
          `    ${ip} daddr { ${nodeDns.join(", ")} } ${ip} saddr vmap @egress`,
          "  }",
        ]),
    "}",
  ].join("\n");
}

/** Empty if nothing changes. */
export function policyChanges(family: Family, before: PolicySnapshot, after: PolicySnapshot): string {
  const { family: ip, address } = nftNames(family);
  const table = `${ip} ${POLICY_TABLE}`;
  const script: string[] = [];
  const elements = (verb: "add" | "delete", set: string, all: readonly string[]) => {
    if (all.length > 0) script.push(`${verb} element ${table} ${set} { ${all.join(", ")} }`);
  };
  for (const name of after.sets.keys()) {
    if (before.sets.has(name)) continue;
    const type = name.startsWith("ports-") ? `${address} . inet_proto . inet_service` : address;
    script.push(`add set ${table} ${name} { type ${type}; }`);
  }
  for (const [name, now] of after.sets) {
    const had = before.sets.get(name) ?? new Set<string>();
    elements(
      "delete",
      name,
      [...had].filter((each) => !now.has(each)),
    );
    elements(
      "add",
      name,
      [...now].filter((each) => !had.has(each)),
    );
  }
  for (const [name, rules] of after.chains) {
    if (before.chains.has(name)) continue;
    script.push(`add chain ${table} ${name}`, ...rules.map((rule) => `add rule ${table} ${name} ${rule}`));
  }
  elements(
    "delete",
    "own",
    [...before.own].filter((each) => !after.own.has(each)),
  );
  elements(
    "add",
    "own",
    [...after.own].filter((each) => !before.own.has(each)),
  );
  for (const map of ["ingress", "egress"] as const) {
    const changed = (from: ReadonlyMap<string, string>, to: ReadonlyMap<string, string>) =>
      [...from].filter(([key, chain]) => to.get(key) !== chain).map(([key, chain]) => `${key} : jump ${chain}`);
    elements("delete", map, changed(before[map], after[map]));
    elements("add", map, changed(after[map], before[map]));
  }
  for (const name of before.chains.keys()) {
    if (!after.chains.has(name)) script.push(`flush chain ${table} ${name}`, `delete chain ${table} ${name}`);
  }
  for (const name of before.sets.keys()) if (!after.sets.has(name)) script.push(`delete set ${table} ${name}`);
  return script.join("\n");
}
