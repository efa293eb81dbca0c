/**
 * One virtual address for all API servers of a cluster: it is on the machine that holds a Lease, and moves.
 *
 *     healthy ──► Lease acquired ──► address on the link ──► port open ──► announced
 *                    ··· renewed ───► its lifetime in the kernel is prolonged, never beyond the Lease
 *     not healthy, stopped, not renewed ──► port closed ──► address removed ──► Lease given back
 *
 * 1. Two machines never have it at once: the kernel removes it before the Lease ends, even if this process stands
 *    still.
 * 2. Only a machine whose own API server answers /readyz takes it or keeps it.
 * 3. The port is closed before the address goes, so that clients see the end of their connections.
 */
import type { coordination } from "#api";
import { type Clock, childController, isAbort, type Logger, type Random } from "#base";
import { leadElected, type ResourceClient } from "#client";
import { ChangeSignal } from "../kernel/change-signal.ts";
import type { Program } from "../kernel/program.ts";
import { announce, type LinkAddress, place, remove } from "./link.ts";

export const VIRTUAL_ADDRESS_LEASE = "k8ts-virtual-address";

const LEASE_MS = 5_000;
const RETRY_MS = 1_000;
const CHECK_MS = 1_000;
/** A single failure may be a pause of a busy machine. */
const MAX_FAILURES = 2;
/** The kernel looks for addresses whose lifetime is over about once a second. */
const KERNEL_DELAY_MS = 1_000;
/** A neighbour that missed the first announcement gets another. */
const ANNOUNCE_MS = 30_000;

export interface VirtualAddressOptions {
  readonly address: string;
  /** Of this machine, where the address appears. */
  readonly link: string;
  readonly run: Program;
  /** Of the namespace kube-system. */
  readonly leases: ResourceClient<coordination.Lease>;
  /** Unique among the machines. */
  readonly identity: string;
  readonly isHealthy: (signal: AbortSignal) => Promise<boolean>;
  /** Opens the port at the address; what it returns closes it, and its connections. */
  readonly open: (address: string) => Promise<() => Promise<void>>;
  /** Default: 5 s. */
  readonly leaseMs?: number | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Until the signal aborts. */
export async function runVirtualAddress(options: VirtualAddressOptions, signal: AbortSignal): Promise<void> {
  const { leases, identity, leaseMs = LEASE_MS, clock, random, log } = options;
  // What an earlier process left here is not ours: the Lease says who has it.
  await remove(options, signal);
  while (!signal.aborted) {
    using healthy = childController(signal);
    try {
      await untilHealth(options, true, signal);
      const held = new Held(options, leaseMs);
      const watching = untilHealth(options, false, healthy.signal).then(
        () => healthy.abort(new Error("the API server is not ready")),
        () => {},
      );
      const election = { leases, name: VIRTUAL_ADDRESS_LEASE, identity, clock, random, log };
      const times = { leaseMs, renewDeadlineMs: leaseMs / 2, retryMs: Math.min(RETRY_MS, leaseMs / 5) };
      await leadElected({ ...election, ...times, onHeld: (fromMs) => held.renewed(fromMs) }, healthy.signal, (term) =>
        held.run(term),
      );
      await watching;
    } catch (error) {
      if (signal.aborted && isAbort(error, signal)) return;
      log.warn("the virtual address is not here; trying again", { address: options.address, error });
      await clock.sleep(RETRY_MS, signal);
    }
  }
}

/** Returns when the API server is healthy, or when it has not been for a while. */
async function untilHealth({ isHealthy, clock }: VirtualAddressOptions, wanted: boolean, signal: AbortSignal) {
  const enough = wanted ? 1 : MAX_FAILURES;
  for (let seen = 0; ; await clock.sleep(CHECK_MS, signal)) {
    const healthy = await isHealthy(signal);
    signal.throwIfAborted();
    seen = healthy === wanted ? seen + 1 : 0;
    if (seen >= enough) return;
  }
}

/** The address during one term. */
class Held {
  readonly #options: VirtualAddressOptions;
  readonly #leaseMs: number;
  readonly #changed = new ChangeSignal();
  /** When the last renewal was sent: others count from when they see it, which is later. */
  #fromMs = Number.NEGATIVE_INFINITY;

  constructor(options: VirtualAddressOptions, leaseMs: number) {
    this.#options = options;
    this.#leaseMs = leaseMs;
  }

  renewed(fromMs: number): void {
    this.#fromMs = fromMs;
    this.#changed.mark();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { address, link, clock, log, open } = this.#options;
    let close: (() => Promise<void>) | undefined;
    try {
      let announcedMs = Number.NEGATIVE_INFINITY;
      for (;;) {
        await this.#changed.wait(clock, this.#leaseMs, signal);
        const seconds = this.#lifetime();
        if (seconds < 1) continue;
        await place(this.#options, seconds, signal);
        close ??= await open(address);
        if (clock.monotonic() - announcedMs < ANNOUNCE_MS) continue;
        if (announcedMs === Number.NEGATIVE_INFINITY) log.info("the virtual address is here", { address, link });
        announcedMs = clock.monotonic();
        await announce(this.#options, signal);
      }
    } finally {
      await this.#release(close);
    }
  }

  /** Whole seconds for which the address is certainly this machine's. */
  #lifetime(): number {
    const { clock } = this.#options;
    return Math.floor((this.#fromMs + this.#leaseMs - KERNEL_DELAY_MS - clock.monotonic()) / 1_000);
  }

  async #release(close: (() => Promise<void>) | undefined): Promise<void> {
    const { address, log } = this.#options;
    try {
      await close?.();
    } catch (error) {
      log.warn("the port of the virtual address could not be closed", { address, error });
    }
    // Its own signal: the term has ended.
    await remove(this.#options satisfies LinkAddress, new AbortController().signal);
    log.info("the virtual address is not here any more", { address });
  }
}
