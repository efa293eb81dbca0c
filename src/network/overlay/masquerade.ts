/**
 * What Pods send out of the cluster looks as if their node had sent it: nobody out there knows the way to a Pod. What stays between Pods keeps its addresses.
 */
import type { Clock, Logger, Random } from "#base";
import { Changed, tellKernel } from "../kernel/apply-to-kernel.ts";
import { type Program, runProgram } from "../kernel/program.ts";
import type { Family } from "../proxy/virtual-addresses.ts";

const TABLE = "k8ts-outside";
/** Addresses of groups are nobody's. */
const GROUPS = { ip: "224.0.0.0/4", ip6: "ff00::/8" } as const;

/** Replaces what is there under this name, in one transaction. Connections that are there stay as they are. */
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
        // After the proxy's, which sees first what it has sent on.
        "    type nat hook postrouting priority srcnat + 5; policy accept;",
        `    ${ip} saddr @pods ${ip} daddr != @pods ${ip} daddr != ${GROUPS[ip]} masquerade`,
        "  }",
        "}",
      ];
    })
    .join("\n");
}

export interface MasqueradeOptions {
  readonly families: readonly Family[];
  readonly podCidrs: readonly string[];
  readonly resyncMs?: number;
  readonly run?: Program;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

const DEFAULT_RESYNC_MS = 3_600_000;

/** Until the signal aborts; what was told stays. */
export async function runMasquerade(options: MasqueradeOptions, signal: AbortSignal): Promise<void> {
  const { families, podCidrs, resyncMs = DEFAULT_RESYNC_MS, run = runProgram, clock, random, log } = options;
  const tell = async (_whole: boolean, telling: AbortSignal) => {
    await run("nft", ["-f", "-"], masqueradeScript(families, podCidrs), telling);
    return undefined;
  };
  await tellKernel({ changed: new Changed(), tell, resyncMs, onReady: undefined, clock, random, log }, signal);
}
