/**
 * Firewalls of others on this machine that refuse to forward packets, as those of Docker and ufw do by the policy of
 * iptables' FORWARD chain: it gets two rules for the cluster's link, which are removed with the cluster. All other
 * rules are left alone.
 */
import { findProgram, run } from "../machine/command.ts";
import type { SiteNames } from "../site/names.ts";

const PROGRAMS = ["iptables", "ip6tables"];

/** Whether anything in a FORWARD chain, as `iptables -S FORWARD` shows it, may refuse packets. */
export function mayRefuse(chain: string): boolean {
  return chain.split("\n").some((line) => /^-P FORWARD (?!ACCEPT)|^-A FORWARD\b/.test(line) && !line.includes("k8ts-"));
}

export function acceptRules({ machineLink }: Pick<SiteNames, "machineLink">): readonly (readonly string[])[] {
  const named = ["-m", "comment", "--comment", machineLink, "-j", "ACCEPT"];
  return [
    ["-i", machineLink, ...named],
    ["-o", machineLink, "-m", "conntrack", "--ctstate", "RELATED,ESTABLISHED", ...named],
  ];
}

/** Returns what is still in the way, as sentences. `rules`: those of a program, with the name of the cluster's link. */
export async function passOtherFirewalls(
  site: Pick<SiteNames, "machineLink">,
  rules: (program: string) => readonly (readonly string[])[] = () => acceptRules(site),
): Promise<readonly string[]> {
  for (const program of PROGRAMS.filter((each) => findProgram(each) !== undefined)) {
    const chain = await shown(program);
    if (!mayRefuse(chain)) continue;
    // Both are put before all others, so that they stand in this order.
    for (const rule of rules(program).toReversed())
      if (!(await has(program, rule))) await run(program, ["-w", "-I", "FORWARD", ...rule]);
  }
  return (await refusingChains()).map(
    (chain) =>
      `The firewall of this machine forwards nothing (nftables: ${chain}): allow forwarding from ${site.machineLink}.`,
  );
}

export async function leaveOtherFirewalls(site: Pick<SiteNames, "machineLink">): Promise<void> {
  for (const program of PROGRAMS.filter((each) => findProgram(each) !== undefined)) {
    // Without a rule of ours, not even the chain is touched.
    if (!(await shown(program)).includes(site.machineLink)) continue;
    const own = (await shown(program)).split("\n").filter((line) => line.includes(`--comment ${site.machineLink} `));
    for (const line of own) await run(program, ["-w", "-D", ...line.split(" ").slice(1)]);
  }
}

/** Empty where this kernel has no such firewall. */
async function shown(program: string): Promise<string> {
  return run(program, ["-w", "-S", "FORWARD"]).catch(() => "");
}

async function has(program: string, rule: readonly string[]): Promise<boolean> {
  return run(program, ["-w", "-C", "FORWARD", ...rule]).then(
    () => true,
    () => false,
  );
}

interface Listed {
  readonly nftables: readonly { readonly chain?: Chain }[];
}

interface Chain {
  readonly family: string;
  readonly table: string;
  readonly name: string;
  readonly hook?: string;
  readonly type?: string;
  readonly policy?: string;
}

/** Chains of nftables that drop by their policy. Those that iptables shows are handled there. */
async function refusingChains(): Promise<string[]> {
  const { nftables } = JSON.parse(await run("nft", ["-j", "list", "chains"])) as Listed;
  return nftables.flatMap(({ chain }) => {
    if (chain?.hook !== "forward" || chain.policy !== "drop" || chain.table === "filter") return [];
    return [`${chain.family} ${chain.table} ${chain.name}`];
  });
}
