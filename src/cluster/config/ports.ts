/**
 * The port of the API server. Clients, nodes and kubeconfigs know it, so a cluster keeps the one that it had.
 *
 *     --port N   that one or none
 *     --port 0   that of the last start, else a free one
 *     (none)     that of the last start, else 6443, else a free one: other clusters may run beside it
 */
import { once } from "node:events";
import { createServer } from "node:net";

const USUAL = 6443;

/** In the order in which they are tried; 0 is any free one. */
export function portsToTry(asked: number | undefined, last: number | undefined): readonly number[] {
  if (asked !== undefined && asked !== 0) return [asked];
  return [...new Set([...(last === undefined ? [] : [last]), ...(asked === undefined ? [USUAL] : []), 0])];
}

/** The first that is free on all addresses; the last one is not tried. */
export async function firstFree(ports: readonly number[], hosts: readonly string[]): Promise<number> {
  for (const port of ports.slice(0, -1)) {
    const isFree = (await Promise.all(hosts.map((host) => canListen(host, port)))).every((free) => free);
    if (isFree) return port;
  }
  return ports.at(-1) ?? 0;
}

/** Throws as listening would, also where all who listen would share the port. */
export async function refuseUsed(port: number, hosts: readonly string[]): Promise<void> {
  for (const host of hosts) {
    if (await canListen(host, port)) continue;
    throw Object.assign(new Error(`listen EADDRINUSE: address already in use ${host}:${port}`), { code: "EADDRINUSE" });
  }
}

/** Only a port in use counts: any other problem is the server's to explain. */
async function canListen(host: string, port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, "listening");
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "EADDRINUSE";
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}
