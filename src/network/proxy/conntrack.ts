/**
 * Connections that the kernel remembers, without there being any: datagrams. Those of a virtual address whose endpoint went away would go there
 * for as long as they come; they are forgotten, and the next one finds another.
 */
import { type Program, ProgramError } from "../kernel/program.ts";
import type { VirtualAddress } from "./virtual-addresses.ts";

export interface StaleFlow {
  readonly address: string;
  readonly port: number;
  /** Undefined: whatever it was sent to, for there was nothing before. */
  readonly endpoint?: string;
}

/** What has to be forgotten when these addresses become those. */
export function staleFlows(before: readonly VirtualAddress[], after: readonly VirtualAddress[]): StaleFlow[] {
  const keyOf = ({ address, port }: VirtualAddress) => `${address} ${port}`;
  const datagrams = (all: readonly VirtualAddress[]) => all.filter(({ protocol }) => protocol === "udp");
  const now = new Map(datagrams(after).map((vip) => [keyOf(vip), vip]));
  const gone = datagrams(before).flatMap((vip) => {
    const left = new Set(endpointsOf(now.get(keyOf(vip))));
    const { address, port } = vip;
    return endpointsOf(vip)
      .filter((endpoint) => !left.has(endpoint))
      .map((endpoint) => ({ address, port, endpoint }));
  });
  const had = new Set(
    datagrams(before)
      .filter((vip) => vip.endpoints.length > 0)
      .map(keyOf),
  );
  const found = [...now.values()].filter((vip) => vip.endpoints.length > 0 && !had.has(keyOf(vip)));
  return [...gone, ...found.map(({ address, port }) => ({ address, port }))];
}

function endpointsOf(vip: VirtualAddress | undefined): string[] {
  return [...(vip?.endpoints ?? []), ...(vip?.endpointsFromInside ?? [])].map(({ address }) => address);
}

export async function forgetFlows(flows: readonly StaleFlow[], run: Program, signal: AbortSignal): Promise<void> {
  for (const { address, port, endpoint } of flows) {
    const family = address.includes(":") ? "ipv6" : "ipv4";
    const to = endpoint === undefined ? [] : ["--dst-nat", endpoint];
    const args = ["-D", "-f", family, "-p", "udp", "--orig-dst", address, "--orig-port-dst", String(port), ...to];
    await run("conntrack", args, "", signal).catch((error: unknown) => {
      // It fails where it finds none, which is what was wanted.
      if (!(error instanceof ProgramError) || error.exitCode !== 1) throw error;
    });
  }
}
