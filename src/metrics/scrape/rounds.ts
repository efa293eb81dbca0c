/**
 * Asks all nodes for their figures, again and again.
 *
 * 1. A node that does not answer is left out of the round and logged; the others are not held up.
 * 2. Requests of a round are spread over a part of it, so that many kubelets do not answer at once.
 */
import type { core } from "#api";
import { type Clock, isAbort, type Logger, type Random } from "#base";
import { parseResourceMetrics } from "../points/parse.ts";
import type { NodePoints } from "../points/point.ts";
import type { PointStorage } from "../points/storage.ts";
import type { Scraper } from "./scraper.ts";

/** The longest time over which requests are spread, and the time for each node. */
const SPREAD_MS = 4_000;
const SPREAD_PER_NODE_MS = 8;
/** So many are asked without a delay. */
const AT_ONCE = 10;

export interface RoundsOptions {
  readonly nodes: () => readonly core.Node[];
  readonly scrape: Scraper;
  readonly storage: PointStorage;
  readonly resolutionMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** After each round. */
  readonly onRound?: (() => void) | undefined;
}

/** Until the signal aborts. */
export async function runRounds(options: RoundsOptions, signal: AbortSignal): Promise<void> {
  const { clock, resolutionMs, onRound } = options;
  while (!signal.aborted) {
    const startedMs = clock.monotonic();
    await runRound(options, signal);
    if (signal.aborted) return;
    onRound?.();
    await clock.sleep(Math.max(0, resolutionMs - (clock.monotonic() - startedMs)), signal);
  }
}

export async function runRound(options: RoundsOptions, signal: AbortSignal): Promise<void> {
  const { nodes, scrape, storage, clock, random, log } = options;
  const found = new Map<string, NodePoints>();
  const asked = nodes();
  const spreadMs = Math.min(SPREAD_MS, Math.max(0, asked.length - AT_ONCE) * SPREAD_PER_NODE_MS);
  await Promise.all(
    asked.map(async (node) => {
      const { name = "" } = node.metadata;
      try {
        if (spreadMs > 0) await clock.sleep(Math.floor(random.next() * spreadMs), signal);
        found.set(name, parseResourceMetrics(await scrape(node, signal), clock.now()));
      } catch (error) {
        if (!isAbort(error, signal)) log.warn("Failed to scrape node", { node: name, error });
      }
    }),
  );
  if (!signal.aborted) storage.store(found);
}
