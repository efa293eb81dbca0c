/**
 * Stale UDP connections in conntrack. Without deleting them, datagrams to a virtual address would go to an endpoint
 * that is gone for as long as they keep coming.
 */
import { type Program, ProgramError } from "../kernel/program.ts";
import type { Endpoint } from "./endpoints.ts";
import type { VirtualAddress } from "./virtual-addresses.ts";

export interface StaleConnection {
  readonly address: string;
  readonly port: number;
  /** Undefined: any, because there was no endpoint before. */
  readonly endpoint?: string;
}

/** Connections to delete when `before` becomes `after`. */
export function staleConnections(
  before: readonly VirtualAddress[],
  after: readonly VirtualAddress[],
): StaleConnection[] {
  const keyOf = ({ address, port }: VirtualAddress) => `${address} ${port}`;
  const datagrams = (all: readonly VirtualAddress[]) => all.filter(({ protocol }) => protocol === "udp");
  const now = new Map(datagrams(after).map((vip) => [keyOf(vip), vip]));
  const gone = datagrams(before).flatMap((vip) => {
    const left = new Set(endpointsOf(now.get(keyOf(vip))).map(textOf));
    const { address, port } = vip;
    // Of an endpoint with another port, too: its old connections lead to the port of before.
    const lost = endpointsOf(vip).filter((endpoint) => !left.has(textOf(endpoint)));
    return [...new Set(lost.map((endpoint) => endpoint.address))].map((endpoint) => ({ address, port, endpoint }));
  });
  const had = new Set(
    datagrams(before)
      .filter((vip) => vip.endpoints.length > 0)
      .map(keyOf),
  );
  const found = [...now.values()].filter((vip) => vip.endpoints.length > 0 && !had.has(keyOf(vip)));
  return [...gone, ...found.map(({ address, port }) => ({ address, port }))];
}

function endpointsOf(vip: VirtualAddress | undefined): readonly Endpoint[] {
  return [...(vip?.endpoints ?? []), ...(vip?.endpointsFromInside ?? [])];
}

const textOf = ({ address, port }: Endpoint) => `${address} ${port}`;

export async function deleteConnections(
  stale: readonly StaleConnection[],
  run: Program,
  signal: AbortSignal,
): Promise<void> {
  for (const { address, port, endpoint } of stale) {
    const family = address.includes(":") ? "ipv6" : "ipv4";
    const to = endpoint === undefined ? [] : ["--dst-nat", endpoint];
    const args = ["-D", "-f", family, "-p", "udp", "--orig-dst", address, "--orig-port-dst", String(port), ...to];
    await run("conntrack", args, "", signal).catch((error: unknown) => {
      // Exit code 1: it found none.
      if (!(error instanceof ProgramError) || error.exitCode !== 1) throw error;
    });
  }
}
