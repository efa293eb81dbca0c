/**
 * Repairs what a crash between two writes leaves: addresses and ports of Services that do not exist, and Services whose
 * addresses or ports are not marked as taken.
 *
 * 1. An address or port is freed only when two rounds in a row find it without its Service: a write takes less time
 *    than a round.
 * 2. Several servers may repair at the same time: every step is a compare-and-swap.
 */
import type { core } from "#api";
import type { Clock, Logger } from "#base";
import type { Resource } from "../rest/resource.ts";
import { type Owner, ownerFrom } from "./owner.ts";
import { holdingsOf, type ServiceStock } from "./service-allocator.ts";

const ROUND_MS = 3 * 60_000;

export interface RepairOptions {
  readonly stock: ServiceStock;
  readonly services: Resource;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Runs until its signal aborts. */
export async function repairServices(options: RepairOptions, signal: AbortSignal): Promise<void> {
  let suspects: ReadonlySet<string> = new Set();
  for (;;) {
    await options.clock.sleep(ROUND_MS, signal).catch(() => {});
    if (signal.aborted) return;
    try {
      suspects = await repairRound(options, suspects);
    } catch (error) {
      options.log.warn("the addresses and ports of services could not be checked; retrying in the next round", {
        error,
      });
    }
  }
}

/** One round. Returns what the next round frees, if it still finds it without its Service. */
export async function repairRound(
  { stock, services, log }: RepairOptions,
  suspects: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const { clusterIPs, nodePorts } = stock;
  const wanted = new Map<string, Owner>();
  for (const stored of services.readable()) {
    const service = services.read(stored) as core.Service;
    const { addresses, ports } = holdingsOf(service);
    for (const what of [...addresses, ...ports]) wanted.set(String(what), ownerFrom(service));
  }
  const orphans = new Set<string>();
  const check = async (what: string, owner: Owner, free: () => Promise<boolean>) => {
    const found = wanted.get(what);
    if (found !== undefined && found.namespace === owner.namespace && found.name === owner.name) return;
    if (!suspects.has(what)) orphans.add(what);
    else if (await free())
      log.warn("released an address or port that no service uses", {
        released: what,
        was: `${owner.namespace}/${owner.name}`,
      });
  };
  for (const { address, owner } of [...clusterIPs.taken()])
    await check(address, owner, () => clusterIPs.free(address, owner));
  for (const { port, owner } of [...nodePorts.taken()])
    await check(String(port), owner, () => nodePorts.free(port, owner));
  await retake(stock, wanted);
  return orphans;
}

/** Takes what Services use and nobody has marked as taken. */
async function retake({ clusterIPs, nodePorts, log }: ServiceStock, wanted: ReadonlyMap<string, Owner>): Promise<void> {
  for (const [what, owner] of wanted) {
    const isPort = /^\d+$/.test(what);
    if (isPort ? nodePorts.has(Number(what)) : clusterIPs.has(what)) continue;
    const family = what.includes(":") ? "IPv6" : "IPv4";
    const refused = await (isPort
      ? nodePorts.take(Number(what), owner, false)
      : clusterIPs.take(what, family, owner, false));
    const service = `${owner.namespace}/${owner.name}`;
    if (refused === undefined) log.warn("marked an address or port of a service as taken", { taken: what, service });
    else log.warn("a service uses an address or port that it cannot have", { used: what, service, why: refused.why });
  }
}
