/**
 * The ports of this machine that lead to the ingress: 80 and 443, or the next ones that are free. Chosen at the first
 * start; later ones try the same first.
 */

import { once } from "node:events";
import { createServer } from "node:net";

/** By port of the ingress: the ports to try. */
const CANDIDATES: ReadonlyMap<number, readonly number[]> = new Map([
  [80, [80, ...ports(8080)]],
  [443, [443, ...ports(8443)]],
]);

function ports(first: number): number[] {
  return Array.from({ length: 20 }, (_, at) => first + at);
}

/** `before`: those of an earlier start. A port is absent where none is free. */
export async function chooseIngressPorts(
  before: ReadonlyMap<number, number>,
  isFree: (port: number) => Promise<boolean>,
): Promise<ReadonlyMap<number, number>> {
  const chosen = new Map<number, number>();
  for (const [port, usual] of CANDIDATES) {
    const known = before.get(port);
    for (const each of known === undefined ? usual : [known, ...usual]) {
      if (!(await isFree(each))) continue;
      chosen.set(port, each);
      break;
    }
  }
  return chosen;
}

/** On loopback, of both IP families, unless told otherwise. */
export async function isFreePort(port: number, hosts: readonly string[] = ["127.0.0.1", "::1"]): Promise<boolean> {
  for (const host of hosts) {
    const server = createServer();
    try {
      server.listen({ host, port });
      await once(server, "listening");
      const closed = once(server, "close");
      server.close();
      await closed;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EADDRNOTAVAIL" && code !== "EAFNOSUPPORT") return false;
    }
  }
  return true;
}
