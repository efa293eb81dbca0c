/**
 * Removes from a machine what its node's network has left in the kernel: Services, NetworkPolicies, masquerading,
 * routes to other nodes, and what CNI plugins made for host ports of Pods that ended without them. For nodes that have
 * the machine's own network: any other is gone with its namespace.
 */
import { silentLogger } from "#base";
import { type Program, ProgramError, runProgram } from "./kernel/program.ts";
import { overlayChanges } from "./overlay/changes.ts";
import { readNetwork } from "./overlay/kernel.ts";
import { TABLE as MASQUERADE_TABLE } from "./overlay/masquerade.ts";
import { POLICY_TABLE } from "./policy/script.ts";
import { TABLE as SENDERS_TABLE } from "./policy/senders.ts";
import { Iptables } from "./proxy/iptables/apply.ts";
import { TABLE as PROXY_TABLE } from "./proxy/nftables/table.ts";

const FAMILIES = ["IPv4", "IPv6"] as const;
const OURS = [MASQUERADE_TABLE, POLICY_TABLE, SENDERS_TABLE, PROXY_TABLE];

interface Listed {
  readonly nftables: readonly { readonly table?: { readonly family: string; readonly name: string } }[];
}

/** `cniNetwork`: the name of the network in the CNI configuration. */
export async function removeNodeNetwork(
  cniNetwork: string,
  signal: AbortSignal,
  run: Program = runProgram,
): Promise<void> {
  const { nftables } = JSON.parse(await run("nft", ["-j", "list", "tables"], "", signal)) as Listed;
  const tables = nftables.flatMap(({ table }) =>
    table !== undefined && OURS.includes(table.name) ? [`delete table ${table.family} ${table.name}`] : [],
  );
  if (tables.length > 0) await run("nft", ["-f", "-"], `${tables.join("\n")}\n`, signal);
  for (const family of FAMILIES) await removeIptables(family, cniNetwork, run, signal);
  const { overlay } = await readNetwork(run, signal);
  const { ip } = overlayChanges(overlay, { routes: [], neighbours: [], ends: [] });
  if (ip.length > 0) await run("ip", ["-batch", "-"], `${ip.join("\n")}\n`, signal);
}

/** A machine without iptables, or without a family, has no rules of it. */
async function removeIptables(
  family: (typeof FAMILIES)[number],
  cniNetwork: string,
  run: Program,
  signal: AbortSignal,
): Promise<void> {
  const command = family === "IPv4" ? "iptables" : "ip6tables";
  const saved = await run(`${command}-save`, ["-t", "nat"], "", signal).catch((error: unknown) => {
    if (signal.aborted || !(error instanceof ProgramError || (error as NodeJS.ErrnoException).code === "ENOENT"))
      throw error;
    return "";
  });
  if (saved.includes(":K8TS-"))
    await new Iptables({ families: [family], podCidrs: [], run, log: silentLogger }).remove(signal);
  const script = withoutHostPorts(saved, cniNetwork);
  if (script !== undefined) await run(`${command}-restore`, ["-w", "--noflush"], script, signal);
}

/** What `iptables-restore` does away with of a CNI network's host ports; undefined if there is nothing. Pure. */
export function withoutHostPorts(saved: string, cniNetwork: string): string | undefined {
  const chains = new Set<string>();
  const rules = saved.split("\n").filter((line) => {
    const target = / -j (CNI-DN-\S+)$/.exec(line)?.[1];
    const isOurs = target !== undefined && line.includes(`dnat name: \\"${cniNetwork}\\" id:`);
    if (isOurs) chains.add(target);
    return isOurs;
  });
  if (chains.size === 0) return undefined;
  return [
    "*nat",
    ...[...chains].map((name) => `:${name} - [0:0]`),
    ...rules.map((rule) => rule.replace(/^-A /, "-D ")),
    ...[...chains].map((name) => `-X ${name}`),
    "COMMIT",
    "",
  ].join("\n");
}
