/**
 * The cluster behind its members: each call goes to a member that works, within one deadline.
 *
 * 1. A call ends by its deadline, which covers all attempts, with an answer or a StoreError.
 * 2. Reads move on to other members until the deadline. A write is sent again only if it certainly changed nothing;
 *    else it fails as Unavailable with `maybeApplied`.
 * 3. Calls stay with the member that answered last; one that fails is skipped for its backoff.
 * 4. `close` awaits writes and cancels everything else.
 */

import { Backoff, type Clock, type Random } from "#base";
import type { Tracer } from "#tracing";
import { closedError } from "../model/arguments.ts";
import { StoreError } from "../model/errors.ts";
import type { CallOptions, Revision } from "../model/store.ts";
import { openChannel, type TlsMaterial } from "./channel.ts";
import { Endpoint, type Outcome, type Reach } from "./endpoint.ts";
import { type Failure, isPassing } from "./failure.ts";
import { createRpc, type Message, type Method, type Rpc } from "./rpc.ts";

export const DEFAULT_TIMEOUT_MS = 5000;
/** The minimum time before a silent member is skipped; otherwise its share of the time until the deadline. */
const SHORTEST_ATTEMPT_MS = 250;
const BUSY_BACKOFF = { initialMs: 20, maxMs: 500, jitter: 0.5 };

export interface ConnectionOptions {
  readonly endpoints: readonly string[];
  readonly tls: TlsMaterial;
  readonly clock: Clock;
  readonly random: Random;
  readonly tracer?: Tracer | undefined;
  /** Sockets that lead to the members, by URL. Closed with the connection. */
  readonly relays?: { readonly sockets: ReadonlyMap<string, string>; close(): Promise<void> } | undefined;
}

interface Answer {
  readonly header: Message<"ResponseHeader"> | null;
}

export class Connection {
  readonly rpc: Rpc = createRpc();
  readonly #endpoints: readonly Endpoint[];
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #closing = new AbortController();
  readonly #writes = new Set<Promise<unknown>>();
  readonly #relays: ConnectionOptions["relays"];
  #current = 0;
  #newest: Revision = 0;

  constructor({ endpoints, tls, clock, random, tracer, relays }: ConnectionOptions) {
    this.#relays = relays;
    this.#clock = clock;
    this.#random = random;
    this.#endpoints = endpoints.map((url) => {
      const channel = openChannel(url, tls, relays?.sockets.get(url));
      return new Endpoint(url, channel, this.rpc, clock, random, tracer);
    });
  }

  /** The newest revision in any answer. */
  get newest(): Revision {
    return this.#newest;
  }

  /** Aborts when the connection closes. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  get clock(): Clock {
    return this.#clock;
  }

  /** The deadline of a call with these options. */
  deadline(options: CallOptions = {}): number {
    return this.#clock.monotonic() + (options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  }

  /** An idempotent call. */
  async read<Req, Res extends Answer>(
    method: Method<Req, Res>,
    request: Req,
    deadline: number,
    reach: Reach = "cluster",
  ): Promise<Res> {
    const busy = new Backoff(BUSY_BACKOFF, this.#random);
    for (;;) {
      const endpoint = await this.#usable(reach, deadline);
      const limitMs = this.#attemptMs(deadline);
      const outcome = await endpoint.call(method, request, { reach, limitMs, signal: this.signal });
      if (outcome.ok) return this.#answered(endpoint, outcome.answer, reach);
      await this.#passOver(endpoint, outcome.failure, busy, deadline);
    }
  }

  write<Req, Res extends Answer>(method: Method<Req, Res>, request: Req, deadline: number): Promise<Res> {
    if (this.signal.aborted) return Promise.reject(closedError());
    const write = this.#write(method, request, deadline);
    const forget = () => {
      this.#writes.delete(write);
    };
    this.#writes.add(write);
    write.then(forget, forget);
    return write;
  }

  /** Waits for a member for a watch. */
  watchable(signal: AbortSignal): Promise<Endpoint> {
    return this.#usable("cluster", Number.POSITIVE_INFINITY, signal);
  }

  async close(): Promise<void> {
    this.#closing.abort(closedError());
    await Promise.allSettled(this.#writes);
    for (const endpoint of this.#endpoints) endpoint.close();
    await this.#relays?.close();
  }

  async #write<Req, Res extends Answer>(method: Method<Req, Res>, request: Req, deadline: number): Promise<Res> {
    const busy = new Backoff(BUSY_BACKOFF, this.#random);
    for (;;) {
      const endpoint = await this.#usable("cluster", deadline);
      const outcome =
        (await this.#probe(endpoint, deadline)) ?? (await this.#send(endpoint, method, request, deadline));
      if (outcome.ok) return this.#answered(endpoint, outcome.answer, "cluster");
      if (outcome.failure.sent && isPassing(outcome.failure)) {
        endpoint.failed(outcome.failure);
        throw this.#unavailable(true);
      }
      await this.#passOver(endpoint, outcome.failure, busy, deadline);
    }
  }

  async #send<Req, Res>(
    endpoint: Endpoint,
    method: Method<Req, Res>,
    request: Req,
    deadline: number,
  ): Promise<Outcome<Res>> {
    // This write waits until its deadline, because it must not be sent elsewhere; other calls need not queue behind it.
    const suspicion: Failure = { kind: "leaderless", sent: true, reason: "it does not answer", cause: undefined };
    const timer = this.#clock.timer(this.#attemptMs(deadline), () => endpoint.failed(suspicion));
    try {
      // No signal: `close` does not cancel a write that has been sent.
      return await endpoint.call(method, request, { reach: "cluster", limitMs: this.#leftMs(deadline) });
    } finally {
      timer.cancel();
    }
  }

  /** Checks, before a write is sent, that the member answers; returns the failure if not. */
  async #probe(endpoint: Endpoint, deadline: number): Promise<(Outcome<never> & { readonly ok: false }) | undefined> {
    if (endpoint.connected && endpoint.failure === undefined) return undefined;
    const attempt = { reach: "local", limitMs: this.#attemptMs(deadline), signal: this.signal } as const;
    const outcome = await endpoint.call(this.rpc.status, {}, attempt);
    if (!outcome.ok) return { ok: false, failure: { ...outcome.failure, sent: false } };
    if (outcome.answer.leader !== "0") return undefined;
    const failure: Failure = { kind: "leaderless", sent: false, reason: "its cluster has no leader", cause: undefined };
    return { ok: false, failure };
  }

  #answered<Res extends Answer>(endpoint: Endpoint, answer: Res, reach: Reach): Res {
    endpoint.worked(reach);
    this.#newest = Math.max(this.#newest, Number(answer.header?.revision ?? 0));
    return answer;
  }

  /** Waits for a member that is not in backoff; throws if there is none before the deadline. */
  async #usable(reach: Reach, deadline: number, signal = this.signal): Promise<Endpoint> {
    for (;;) {
      signal.throwIfAborted();
      const { endpoint, waitMs } = this.#soonest(reach);
      const leftMs = this.#leftMs(deadline);
      if (leftMs <= 0) throw this.#unavailable(false);
      if (waitMs === 0) return endpoint;
      await this.#clock.sleep(Math.min(waitMs, leftMs), signal);
    }
  }

  #soonest(reach: Reach): { readonly endpoint: Endpoint; readonly waitMs: number } {
    const count = this.#endpoints.length;
    let best: { endpoint: Endpoint; waitMs: number; index: number } | undefined;
    for (let i = 0; i < count; i++) {
      const index = (this.#current + i) % count;
      const endpoint = this.#endpoints[index];
      if (endpoint === undefined) continue;
      const waitMs = endpoint.usableInMs(reach);
      if (best === undefined || waitMs < best.waitMs) best = { endpoint, waitMs, index };
    }
    if (best === undefined) throw new RangeError("etcd has no endpoints.");
    if (best.waitMs === 0 && reach === "cluster") this.#current = best.index;
    return best;
  }

  /** After a failure that changed nothing: throws if a retry could not help. */
  async #passOver(endpoint: Endpoint, failure: Failure, busy: Backoff, deadline: number): Promise<void> {
    if (!isPassing(failure)) throw permanent(endpoint.url, failure);
    if (failure.kind === "busy") await this.#clock.sleep(Math.min(busy.next(), this.#leftMs(deadline)), this.signal);
    else endpoint.failed(failure);
  }

  #attemptMs(deadline: number): number {
    const leftMs = this.#leftMs(deadline);
    return Math.min(leftMs, Math.max(SHORTEST_ATTEMPT_MS, leftMs / this.#endpoints.length));
  }

  #leftMs(deadline: number): number {
    return Math.max(0, deadline - this.#clock.monotonic());
  }

  #unavailable(maybeApplied: boolean): StoreError {
    const failures = this.#endpoints.map(
      ({ url, failure }) => `${url}: ${failure?.reason ?? "it does not answer in time"}`,
    );
    const cause = this.#endpoints.find(({ failure }) => failure?.cause !== undefined)?.failure?.cause;
    const doubt = maybeApplied ? " The write may have happened all the same." : "";
    const message = `etcd is not available now. ${failures.join("; ")}.${doubt}`;
    return new StoreError("Unavailable", message, { cause, maybeApplied });
  }
}

function permanent(url: string, { kind, reason, cause }: Failure): Error {
  switch (kind) {
    case "full":
      return new StoreError("Full", "etcd has no space left: compact and defragment it, then disarm its alarm.", {
        cause,
      });
    case "corrupt":
      return new StoreError("Corrupt", `etcd reports damaged data. ${url}: ${reason}.`, { cause });
    case "compacted":
      return new StoreError("Compacted", "The revision asked for has been compacted.", { cause });
    case "future":
      return new StoreError("FutureRevision", "The revision asked for does not exist yet.", { cause });
    case "too-large":
      return new RangeError("The value is larger than etcd accepts (1.5 MB unless configured otherwise).", { cause });
    default:
      return new StoreError("Unavailable", `etcd refuses the request. ${url}: ${reason}.`, { cause });
  }
}
