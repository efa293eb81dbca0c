/**
 * Masquerades traffic from Pods to addresses outside of the cluster, where nobody has a route to Pods. Traffic between
 * Pods keeps its addresses.
 */
import type { Clock, Logger, Random } from "#base";
import { applyToKernel } from "../kernel/apply-to-kernel.ts";
import { ChangeSignal } from "../kernel/change-signal.ts";
import type { Family } from "../kernel/ip-family.ts";
import { type Program, runProgram } from "../kernel/program.ts";

export const TABLE = "k8ts-outside";
/** Multicast is never masqueraded. */
const MULTICAST = { ip: "224.0.0.0/4", ip6: "ff00::/8" } as const;

/** Replaces the table in one transaction. Existing connections are not affected. */
export function masqueradeScript(families: readonly Family[], podCidrs: readonly string[]): string {
  return families
    .flatMap((family) => {
      const ip = family === "IPv4" ? "ip" : "ip6";
      const own = podCidrs.filter((cidr) => cidr.includes(":") === (ip === "ip6"));
      const table = `${ip} ${TABLE}`;
      const empty = [`table ${table}`, `delete table ${table}`];
      if (own.length === 0) return empty;
      return [
        ...empty,
        `table ${table} {`,
        `  set pods { type ${ip === "ip" ? "ipv4_addr" : "ipv6_addr"}; flags interval; elements = { ${own.join(", ")} }; }`,
        "  chain postrouting {",
        // After the proxy's chain.
        "    type nat hook postrouting priority srcnat + 5; policy accept;",
        `    ${ip} saddr @pods ${ip} daddr != @pods ${ip} daddr != ${MULTICAST[ip]} masquerade`,
        "  }",
        "}",
      ];
    })
    .join("\n");
}

export interface MasqueradeOptions {
  readonly families: readonly Family[];
  readonly podCidrs: readonly string[];
  readonly resyncMs?: number | undefined;
  readonly run?: Program;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

const DEFAULT_RESYNC_MS = 3_600_000;

/** Until the signal aborts. The rules stay in the kernel. */
export async function runMasquerade(options: MasqueradeOptions, signal: AbortSignal): Promise<void> {
  const { families, podCidrs, resyncMs = DEFAULT_RESYNC_MS, run = runProgram, clock, random, log } = options;
  const apply = async (_whole: boolean, applying: AbortSignal) => {
    await run("nft", ["-f", "-"], masqueradeScript(families, podCidrs), applying);
    return undefined;
  };
  await applyToKernel({ changed: new ChangeSignal(), apply, resyncMs, clock, random, log }, signal);
}
