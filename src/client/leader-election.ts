/**
 * Leader election by a Lease: leads while it holds the lease, and stops before another candidate can take it.
 *
 *     follower ··· tries to take the lease: free, expired, or already its own ═══► leader
 *        ▲                                                                              │ renews it
 *        └──────── not renewed within the deadline, or taken by another ◄───────────────┘
 *
 * 1. Clocks of different machines are never compared: a lease is expired when this process has seen no change of it for
 *    its duration.
 * 2. The leader stops before another may lead: the renew deadline is shorter than the lease duration.
 * 3. On stop the lease is released, so that the next leader need not wait.
 */
import { type coordination, isStatusError } from "#api";
import { abortable, type Clock, childController, isAbort, type Logger, type Random } from "#base";
import type { ResourceClient } from "./requests/resource-client.ts";

type Lease = coordination.Lease;

const RELEASE_MS = 2_000;

export interface LeaderElectionOptions {
  /** The Leases of the namespace. */
  readonly leases: ResourceClient<Lease>;
  readonly name: string;
  /** Unique among the candidates. */
  readonly identity: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Default: 15 s. */
  readonly leaseMs?: number;
  /** Default: 10 s. */
  readonly renewDeadlineMs?: number;
  /** Default: 2 s. */
  readonly retryMs?: number;
  /** The lease was taken or renewed, by a request that was sent at this time of the clock (`monotonic`). */
  readonly onHeld?: (sentMs: number) => void;
}

/**
 * Runs `lead` whenever this candidate is elected, until `signal` aborts. Its signal aborts when the lease is lost;
 * `lead` is awaited.
 */
export async function leadElected(
  options: LeaderElectionOptions,
  signal: AbortSignal,
  lead: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const candidate = new Candidate(options);
  try {
    while (!signal.aborted) {
      await candidate.acquire(signal);
      await term(candidate, options, signal, lead);
    }
  } catch (error) {
    if (!isAbort(error, signal)) throw error;
  }
}

async function term(
  candidate: Candidate,
  { log, name }: LeaderElectionOptions,
  signal: AbortSignal,
  lead: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  log.info("became the leader", { lease: name });
  using leading = childController(signal);
  const work = lead(leading.signal);
  const ended = work.then(
    () => {},
    () => {},
  );
  try {
    await Promise.race([candidate.hold(leading.signal), ended]);
  } finally {
    leading.abort(new Error(`the lease ${name} was lost`));
    await ended;
    await candidate.release();
    log.info("is no longer the leader", { lease: name });
  }
  await work.catch((error: unknown) => {
    if (!isAbort(error, leading.signal)) throw error;
  });
}

class Candidate {
  readonly #options: Required<Omit<LeaderElectionOptions, "onHeld">> & Pick<LeaderElectionOptions, "onHeld">;
  /** The lease as last seen, and when it was last seen to change. */
  #seen: { readonly lease: Lease; readonly atMs: number } | undefined;

  constructor(options: LeaderElectionOptions) {
    this.#options = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000, ...options };
  }

  async acquire(signal: AbortSignal): Promise<void> {
    while (!(await this.#attempt(signal))) await this.#pause(signal);
  }

  /** Renews until that fails for longer than the deadline. */
  async hold(signal: AbortSignal): Promise<void> {
    const { clock, renewDeadlineMs, retryMs, log, name } = this.#options;
    let renewedMs = clock.monotonic();
    while (clock.monotonic() - renewedMs < renewDeadlineMs) {
      await clock.sleep(retryMs, signal);
      using deadline = childController(signal);
      const timer = clock.timer(Math.max(0, renewedMs + renewDeadlineMs - clock.monotonic()), () => deadline.abort());
      try {
        if (await abortable(this.#attempt(deadline.signal), deadline.signal)) renewedMs = clock.monotonic();
        else if (!this.#isOurs()) return;
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn("the lease could not be renewed in time", { lease: name });
      } finally {
        timer.cancel();
      }
    }
  }

  async release(): Promise<void> {
    const { leases, clock, log, name } = this.#options;
    const { lease } = this.#seen ?? {};
    if (lease === undefined || !this.#isOurs()) return;
    const now = timeOf(clock.now());
    const spec = { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
    try {
      await leases.update({ ...lease, spec }, { timeoutMs: RELEASE_MS });
    } catch (error) {
      log.debug("the lease could not be given back", { lease: name, error });
    }
    this.#seen = undefined;
  }

  /** Takes or renews the lease; false if another holds it or the request failed. */
  async #attempt(signal: AbortSignal): Promise<boolean> {
    const { leases, name, identity, leaseMs, clock, log, onHeld } = this.#options;
    const now = timeOf(clock.now());
    const sentMs = clock.monotonic();
    try {
      const current = this.#isOurs() ? this.#seen?.lease : await this.#look(signal);
      if (current === undefined) {
        const spec = { ...this.#spec(now), acquireTime: now, leaseTransitions: 0 };
        const metadata = { name, ...(leases.namespace !== undefined && { namespace: leases.namespace }) };
        this.#note(await leases.create({ metadata, spec }, { signal }));
        onHeld?.(sentMs);
        return true;
      }
      const holder = current.spec?.holderIdentity ?? "";
      const lasts = this.#seen !== undefined && clock.monotonic() - this.#seen.atMs < leaseMs;
      if (holder !== "" && holder !== identity && lasts) return false;
      const changed = holder !== identity;
      const { acquireTime, leaseTransitions = 0 } = current.spec ?? {};
      const spec = {
        ...this.#spec(now),
        acquireTime: changed ? now : (acquireTime ?? now),
        leaseTransitions: changed ? leaseTransitions + 1 : leaseTransitions,
      };
      this.#note(await leases.update({ ...current, spec }, { signal }));
      onHeld?.(sentMs);
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      if (isStatusError(error) && (error.reason === "Conflict" || error.reason === "AlreadyExists")) {
        await this.#look(signal).catch(() => undefined);
        return false;
      }
      log.warn("the lease could not be written", { lease: name, error });
      return false;
    }
  }

  async #look(signal: AbortSignal): Promise<Lease | undefined> {
    const { leases, name } = this.#options;
    try {
      return this.#note(await leases.get(name, { signal }));
    } catch (error) {
      if (isStatusError(error) && error.reason === "NotFound") {
        this.#seen = undefined;
        return undefined;
      }
      throw error;
    }
  }

  /** A lease that has not changed keeps the time at which it was first seen. */
  #note(lease: Lease): Lease {
    if (this.#seen?.lease.metadata.resourceVersion !== lease.metadata.resourceVersion)
      this.#seen = { lease, atMs: this.#options.clock.monotonic() };
    return lease;
  }

  #isOurs(): boolean {
    return this.#seen?.lease.spec?.holderIdentity === this.#options.identity;
  }

  #spec(now: string) {
    const { identity, leaseMs } = this.#options;
    return { holderIdentity: identity, leaseDurationSeconds: Math.ceil(leaseMs / 1000), renewTime: now };
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { clock, random, retryMs } = this.#options;
    await clock.sleep(retryMs * (1 + 0.2 * random.next()), signal);
  }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}
