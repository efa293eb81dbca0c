/**
 * Works only while nobody else does: upstream's sidecar for the same driver holds a Lease of a known name, in whatever
 * namespace it runs.
 *
 * 1. Clocks of different machines are never compared: a holder is gone when this process has seen no renewal for the
 *    duration of its lease.
 * 2. The work has ended before this waits for the holder.
 */
import { type coordination, kinds } from "#api";
import { type Clock, childController, type Logger, type Random, TaskGroup } from "#base";
import { type Client, Informer, objectKey } from "#client";

type Lease = coordination.Lease;

const DEFAULT_LEASE_MS = 15_000;

export interface SteppingAside {
  /** May read Leases. */
  readonly client: Client;
  readonly lease: string;
  /** Whether a holder is this process itself. */
  isOwn(holder: string): boolean;
  /** Called once it is known whether there is a holder. */
  readonly onDecided?: (() => void) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Leases as this process has seen them change. */
export class Holders {
  readonly #isOwn: (holder: string) => boolean;
  readonly #seen = new Map<string, { readonly lease: Lease; readonly atMs: number }>();

  constructor(isOwn: (holder: string) => boolean) {
    this.#isOwn = isOwn;
  }

  saw(lease: Lease, nowMs: number): void {
    this.#seen.set(objectKey(lease), { lease, atMs: nowMs });
  }

  lost(lease: Lease): void {
    this.#seen.delete(objectKey(lease));
  }

  /** How long a foreign holder still counts; 0 if there is none. */
  foreignMs(nowMs: number): number {
    const left = [...this.#seen.values()].map(({ lease: { spec }, atMs }) => {
      const { holderIdentity: holder = "", leaseDurationSeconds } = spec ?? {};
      if (holder === "" || this.#isOwn(holder)) return 0;
      return atMs + (leaseDurationSeconds ?? DEFAULT_LEASE_MS / 1000) * 1000 - nowMs;
    });
    return Math.max(0, ...left);
  }
}

/** Runs `work` whenever there is no foreign holder, until the signal aborts. */
export async function steppingAside(
  options: SteppingAside,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { client, lease, isOwn, onDecided, clock, random, log } = options;
  const tasks = new TaskGroup({ parent: signal });
  const selectors = { fieldSelector: `metadata.name=${lease}` };
  const informer = new Informer<Lease>({ client: client.of(kinds.Lease), selectors, clock, random, log });
  const holders = new Holders(isOwn);
  let changed = Promise.withResolvers<void>();
  informer.onChange(({ type, object }) => {
    if (type === "deleted") holders.lost(object);
    else holders.saw(object, clock.monotonic());
    changed.resolve();
    changed = Promise.withResolvers();
  });
  tasks.run(`leases ${lease}`, (running) => informer.run(running));
  tasks.run(`work beside ${lease}`, async (running) => {
    await informer.synced;
    for (let isAside = false; !running.aborted; ) {
      const foreignMs = holders.foreignMs(clock.monotonic());
      onDecided?.();
      if (foreignMs > 0) {
        if (!isAside) log.info("another process works for the driver; standing by", { lease });
        isAside = true;
        await clock.sleep(foreignMs, running);
        continue;
      }
      isAside = false;
      await untilForeign(running);
    }
  });
  await tasks.done();

  async function untilForeign(running: AbortSignal): Promise<void> {
    using term = childController(running);
    const watching = (async () => {
      while (!term.signal.aborted && holders.foreignMs(clock.monotonic()) === 0) {
        await Promise.race([changed.promise, aborted(term.signal)]);
      }
      term.abort(new Error(`another process holds the lease ${lease}`));
    })();
    try {
      await work(term.signal);
    } catch (error) {
      if (!term.signal.aborted) throw error;
    } finally {
      term.abort();
      await watching;
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
