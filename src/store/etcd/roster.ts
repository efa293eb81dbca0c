/**
 * The members with their health: waits for one that a call can go to, and probes them while there is none.
 *
 * 1. A probe is a read with quorum: a member that answers it can serve any call at that moment.
 * 2. Nothing is probed while all is well.
 * 3. A long probe without an answer makes the next one use a new connection.
 */

import { type Clock, isAbort } from "#base";
import { StoreError } from "../model/errors.ts";
import type { Endpoint, Outcome, Reach } from "./endpoint.ts";
import { type Failure, isPassing } from "./failure.ts";
import { Health, PROBE } from "./health.ts";
import { NUL } from "./keys.ts";
import type { Rpc } from "./rpc.ts";

/** A call that takes longer puts its member under suspicion. */
const SUSPECT_MS = 400;
/** How long a call has after an outage, once a member works, before it is given up. */
const GRACE_MS = 250;
/** How long a call to a member that works has: slow disks are no outage. */
const SLOW_MS = 2500;

export interface RosterOptions {
  readonly endpoints: readonly Endpoint[];
  readonly rpc: Rpc;
  readonly clock: Clock;
  /** Ends everything. */
  readonly signal: AbortSignal;
}

export class Roster {
  readonly #options: RosterOptions;
  readonly #health: Health;
  readonly #probes = new Map<number, Promise<void>>();
  #change = Promise.withResolvers<void>();

  constructor(options: RosterOptions) {
    this.#options = options;
    this.#health = new Health(options.endpoints.length);
  }

  /** Waits for a member; throws if there is none before the deadline. */
  async usable(reach: Reach, deadline: number, signal: AbortSignal): Promise<Endpoint> {
    const { endpoints, clock } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      const choice = this.#health.choose(reach, clock.monotonic());
      const leftMs = deadline - clock.monotonic();
      if (leftMs <= 0) throw this.unavailable(false);
      let waitMs = leftMs;
      if (choice !== undefined && "member" in choice) {
        const endpoint = endpoints[choice.member];
        if (endpoint !== undefined) return endpoint;
      } else if (choice !== undefined) waitMs = Math.min(waitMs, choice.waitMs);
      this.#probeAll();
      await this.#changed(waitMs, signal);
    }
  }

  /** The members from now on: what is new has been added to the end of the endpoints. */
  setPresent(isPresent: (url: string) => boolean): void {
    const { endpoints } = this.#options;
    for (const [member, { url }] of endpoints.entries()) {
      if (member >= this.#health.count) this.#health.add();
      this.#health.setPresent(member, isPresent(url));
    }
    this.#notify();
  }

  answered(endpoint: Endpoint, reach: Reach): void {
    const member = this.#indexOf(endpoint);
    if (this.#health.standing(member) === "good") return;
    this.#health.answered(member, reach);
    this.#notify();
  }

  failed(endpoint: Endpoint, failure: Failure): void {
    this.#health.failed(this.#indexOf(endpoint), failure, this.#options.clock.monotonic());
    this.#notify();
  }

  /**
   * The outcome of a call, or undefined when it should be given up: the cluster works again, or elsewhere, and the call
   * has still no answer.
   */
  async watched<Res>(endpoint: Endpoint, call: Promise<Outcome<Res>>): Promise<Outcome<Res> | undefined> {
    const { clock } = this.#options;
    const over = new AbortController();
    const ended = () => over.abort();
    call.then(ended, ended);
    const patience = async (): Promise<undefined> => {
      const member = this.#indexOf(endpoint);
      const before = this.#health.outages(member);
      await clock.sleep(SUSPECT_MS, over.signal);
      this.#health.suspected(member);
      this.#probeAll();
      // Somebody has to answer a probe first: during an election, all there is to do is wait.
      await this.usable("cluster", Number.POSITIVE_INFINITY, over.signal);
      await clock.sleep(GRACE_MS, over.signal);
      const isWell = this.#health.outages(member) === before && this.#health.standing(member) === "good";
      if (isWell) await clock.sleep(SLOW_MS, over.signal);
    };
    const givenUp = patience().catch((error: unknown) => {
      if (isAbort(error, over.signal)) return call.then(() => undefined);
      throw error;
    });
    // Whichever comes first; an answer that is there wins.
    return Promise.race([call, givenUp]);
  }

  unavailable(maybeApplied: boolean): StoreError {
    const failures = this.#options.endpoints
      .map(({ url }, i) => ({ url, failure: this.#health.failure(i), standing: this.#health.standing(i) }))
      .filter(({ standing }) => standing !== "gone");
    const reasons = failures.map(({ url, failure }) => `${url}: ${failure?.reason ?? "it does not answer in time"}`);
    const cause = failures.find(({ failure }) => failure?.cause !== undefined)?.failure?.cause;
    const doubt = maybeApplied ? " The write may have happened all the same." : "";
    const message = `etcd is not available now. ${reasons.join("; ")}.${doubt}`;
    return new StoreError("Unavailable", message, { cause, maybeApplied });
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#probes.values());
    for (const endpoint of this.#options.endpoints) endpoint.close();
  }

  #probeAll(): void {
    const { endpoints, signal } = this.#options;
    if (!this.#health.isProbing || signal.aborted) return;
    for (const [member, endpoint] of endpoints.entries()) {
      if (this.#probes.has(member) || this.#health.standing(member) === "good") continue;
      const probing = this.#probe(member, endpoint).finally(() => this.#probes.delete(member));
      this.#probes.set(member, probing);
      probing.catch(() => {});
    }
  }

  /** Until it answers, or there is no need to know. */
  async #probe(member: number, endpoint: Endpoint): Promise<void> {
    const { rpc, clock, signal } = this.#options;
    for (;;) {
      const probe = this.#health.probe(member, clock.monotonic());
      if (probe === undefined) return;
      await clock.sleep(probe.inMs, signal);
      const attempt = { reach: "cluster", limitMs: probe.limitMs, signal } as const;
      const outcome = await endpoint.call(rpc.range, { key: NUL, countOnly: true }, attempt);
      // A refusal is an answer as well: the call itself reports it better.
      if (outcome.ok || !isPassing(outcome.failure) || outcome.failure.kind === "busy") {
        this.answered(endpoint, "cluster");
        return;
      }
      this.failed(endpoint, outcome.failure);
      if (outcome.failure.isSilence && (!endpoint.connected || probe.limitMs >= PROBE.longestLimitMs))
        endpoint.reconnect();
    }
  }

  async #changed(ms: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = Number.isFinite(ms) ? clock.timer(ms, resolve) : undefined;
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    this.#change.promise.then(resolve);
    try {
      await promise;
    } finally {
      timer?.cancel();
      signal.removeEventListener("abort", onAbort);
    }
  }

  #notify(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers<void>();
  }

  #indexOf(endpoint: Endpoint): number {
    return this.#options.endpoints.indexOf(endpoint);
  }
}
