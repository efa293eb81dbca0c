/**
 * The cluster behind its members: each call goes to a member that works, within one deadline.
 *
 * 1. A call ends by its deadline, which covers all attempts, with an answer or a StoreError.
 * 2. Reads move on to other members until the deadline. A write is sent again only if it certainly changed nothing:
 *    `attempt` says when it is in doubt, and writes.ts settles that.
 * 3. Which member is next, and when one is given up: roster.ts.
 * 4. `close` awaits writes and cancels everything else.
 */

import { Backoff, type Clock, childController, type Random } from "#base";
import type { Tracer } from "#tracing";
import { closedError } from "../model/arguments.ts";
import { StoreError } from "../model/errors.ts";
import type { CallOptions, Revision } from "../model/store.ts";
import { openChannel, type TlsMaterial } from "./channel.ts";
import { Endpoint, type Outcome, type Reach } from "./endpoint.ts";
import { type Failure, isPassing, silence } from "./failure.ts";
import { Roster } from "./roster.ts";
import { createRpc, type Message, type Method, type Rpc } from "./rpc.ts";

export const DEFAULT_TIMEOUT_MS = 5000;
/** The minimum time that a member has for a local read; otherwise its share of the time until the deadline. */
const SHORTEST_ATTEMPT_MS = 250;
const GIVEN_UP = new Error("given up: the cluster works again, and there was still no answer");
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

/** One attempt at a write. */
export type Attempted<Res> =
  | { readonly answer: Res }
  /** It may have been applied, or may still be. `late`: its answer, if one comes by the deadline. */
  | { readonly doubt: Failure; readonly late: Promise<Res | undefined>; giveUp(): void };

export class Connection {
  readonly rpc: Rpc = createRpc();
  readonly clock: Clock;
  readonly random: Random;
  /** Members that have left stay at their places. */
  readonly #endpoints: Endpoint[];
  readonly #open: (url: string) => Endpoint;
  readonly #roster: Roster;
  readonly #closing = new AbortController();
  readonly #writes = new Set<Promise<unknown>>();
  readonly #relays: ConnectionOptions["relays"];
  #newest: Revision = 0;

  constructor({ endpoints, tls, clock, random, tracer, relays }: ConnectionOptions) {
    this.#relays = relays;
    this.clock = clock;
    this.random = random;
    this.#open = (url) => {
      const open = () => openChannel(url, tls, relays?.sockets.get(url));
      return new Endpoint({ url, openChannel: open, rpc: this.rpc, clock, tracer });
    };
    this.#endpoints = endpoints.map(this.#open);
    this.#roster = new Roster({ endpoints: this.#endpoints, rpc: this.rpc, clock, signal: this.signal });
  }

  /** The newest revision in any answer. */
  get newest(): Revision {
    return this.#newest;
  }

  /** Aborts when the connection closes. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** The deadline of a call with these options. */
  deadline(options: CallOptions = {}): number {
    return this.clock.monotonic() + (options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
  }

  /** An idempotent call. */
  async read<Req, Res extends Answer>(
    method: Method<Req, Res>,
    request: Req,
    deadline: number,
    reach: Reach = "cluster",
  ): Promise<Res> {
    const busy = new Backoff(BUSY_BACKOFF, this.random);
    for (;;) {
      const endpoint = await this.#roster.usable(reach, deadline, this.signal);
      using attempt = childController(this.signal);
      const limitMs = reach === "local" ? this.#shareMs(deadline) : this.#leftMs(deadline);
      const call = endpoint.call(method, request, { reach, limitMs, signal: attempt.signal });
      const outcome = reach === "local" ? await call : await this.#roster.watched(endpoint, call);
      if (outcome?.ok) return this.#answered(endpoint, outcome.answer, reach);
      if (outcome === undefined) {
        attempt.abort(GIVEN_UP);
        call.catch(() => {});
        continue;
      }
      await this.#passOver(endpoint, outcome.failure, busy, deadline);
    }
  }

  /** A write that must not be sent twice, and whose outcome nobody can read back: in doubt, it fails so. */
  async write<Req, Res extends Answer>(method: Method<Req, Res>, request: Req, deadline: number): Promise<Res> {
    const attempted = await this.attempt(method, request, deadline);
    if ("answer" in attempted) return attempted.answer;
    const answer = await attempted.late;
    if (answer === undefined) throw this.unavailable(true);
    return answer;
  }

  /** Sends a write until it may have been applied. */
  attempt<Req, Res extends Answer>(method: Method<Req, Res>, request: Req, deadline: number): Promise<Attempted<Res>> {
    if (this.signal.aborted) return Promise.reject(closedError());
    return this.#awaited(this.#attempt(method, request, deadline));
  }

  /** The members from now on, by their URLs. Those that have left get no more calls. */
  setMembers(urls: readonly string[]): void {
    if (this.signal.aborted || urls.length === 0) return;
    for (const url of urls)
      if (!this.#endpoints.some((endpoint) => endpoint.url === url)) this.#endpoints.push(this.#open(url));
    this.#roster.setPresent((url) => urls.includes(url));
  }

  /** Waits for a member for a watch. */
  watchable(signal: AbortSignal): Promise<Endpoint> {
    return this.#roster.usable("cluster", Number.POSITIVE_INFINITY, signal);
  }

  failed(endpoint: Endpoint, failure: Failure): void {
    this.#roster.failed(endpoint, failure);
  }

  unavailable(maybeApplied: boolean): StoreError {
    return this.#roster.unavailable(maybeApplied);
  }

  async close(): Promise<void> {
    this.#closing.abort(closedError());
    while (this.#writes.size > 0) await Promise.allSettled(this.#writes);
    await this.#roster.close();
    await this.#relays?.close();
  }

  async #attempt<Req, Res extends Answer>(
    method: Method<Req, Res>,
    request: Req,
    deadline: number,
  ): Promise<Attempted<Res>> {
    const busy = new Backoff(BUSY_BACKOFF, this.random);
    for (;;) {
      const endpoint = await this.#roster.usable("cluster", deadline, this.signal);
      // Not a child of the connection's signal: `close` does not cancel a write that has been sent.
      const abandoned = new AbortController();
      const attempt = { reach: "cluster", limitMs: this.#leftMs(deadline), signal: abandoned.signal } as const;
      const call = this.#awaited(endpoint.call(method, request, attempt));
      const outcome = await this.#roster.watched(endpoint, call);
      if (outcome?.ok) return { answer: this.#answered(endpoint, outcome.answer, "cluster") };
      if (outcome === undefined || (outcome.failure.sent && isPassing(outcome.failure))) {
        if (outcome !== undefined) this.#roster.failed(endpoint, outcome.failure);
        const doubt = outcome?.failure ?? silence(endpoint.connected);
        return { doubt, late: this.#late(endpoint, call), giveUp: () => abandoned.abort(GIVEN_UP) };
      }
      await this.#passOver(endpoint, outcome.failure, busy, deadline);
    }
  }

  async #late<Res extends Answer>(endpoint: Endpoint, call: Promise<Outcome<Res>>): Promise<Res | undefined> {
    const outcome = await call.catch(() => undefined);
    return outcome?.ok ? this.#answered(endpoint, outcome.answer, "cluster") : undefined;
  }

  #awaited<T>(write: Promise<T>): Promise<T> {
    const forget = () => {
      this.#writes.delete(write);
    };
    this.#writes.add(write);
    write.then(forget, forget);
    return write;
  }

  #answered<Res extends Answer>(endpoint: Endpoint, answer: Res, reach: Reach): Res {
    this.#roster.answered(endpoint, reach);
    this.#newest = Math.max(this.#newest, Number(answer.header?.revision ?? 0));
    return answer;
  }

  /** After a failure that changed nothing: throws if a retry could not help. */
  async #passOver(endpoint: Endpoint, failure: Failure, busy: Backoff, deadline: number): Promise<void> {
    if (!isPassing(failure)) throw permanent(endpoint.url, failure);
    if (failure.kind === "busy") await this.clock.sleep(Math.min(busy.next(), this.#leftMs(deadline)), this.signal);
    else this.#roster.failed(endpoint, failure);
  }

  #shareMs(deadline: number): number {
    const leftMs = this.#leftMs(deadline);
    return Math.min(leftMs, Math.max(SHORTEST_ATTEMPT_MS, leftMs / this.#endpoints.length));
  }

  #leftMs(deadline: number): number {
    return Math.max(0, deadline - this.clock.monotonic());
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
