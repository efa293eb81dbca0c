/**
 * One member of the cluster as the client sees it: its channel, and its backoff after a failure.
 *
 * 1. A member that failed is skipped until its backoff is over.
 * 2. A member without a leader still answers local reads.
 */

import { type Client, type ClientDuplexStream, connectivityState, Metadata } from "@grpc/grpc-js";
import { Backoff, type Clock, type Random } from "#base";
import type { Tracer } from "#tracing";
import { type Failure, failureOf, silence } from "./failure.ts";
import type { Message, Method, Request, Rpc } from "./rpc.ts";

/** What a call needs of the member: quorum, or only its own data. */
export type Reach = "cluster" | "local";

export type Outcome<Res> =
  | { readonly ok: true; readonly answer: Res }
  | { readonly ok: false; readonly failure: Failure };

export interface Attempt {
  readonly reach: Reach;
  /** The time limit for an answer. */
  readonly limitMs: number;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
}

export type WatchStream = ClientDuplexStream<Request<"WatchRequest">, Message<"WatchResponse">>;

/** Makes a member without a leader refuse the call instead of letting it wait. gRPC copies it for each call. */
const METADATA: Readonly<Record<Reach, Metadata>> = { cluster: hasLeader(), local: new Metadata() };
const BACKOFF = { initialMs: 100, maxMs: 2000, jitter: 0.3 };

export class Endpoint {
  readonly url: string;
  readonly #client: Client;
  readonly #rpc: Rpc;
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  readonly #tracer: Tracer | undefined;
  #failure: Failure | undefined;
  #aloneUntilMs = 0;

  constructor(url: string, client: Client, rpc: Rpc, clock: Clock, random: Random, tracer?: Tracer) {
    this.url = url;
    this.#client = client;
    this.#rpc = rpc;
    this.#clock = clock;
    this.#tracer = tracer;
    this.#backoff = new Backoff(BACKOFF, random);
  }

  /** Its last failure; undefined while it works. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  get connected(): boolean {
    return this.#client.getChannel().getConnectivityState(false) === connectivityState.READY;
  }

  /** How long until it should be tried. */
  usableInMs(reach: Reach): number {
    if (this.#failure === undefined || (reach === "local" && this.#failure.kind === "leaderless")) return 0;
    return Math.max(0, this.#aloneUntilMs - this.#clock.monotonic());
  }

  failed(failure: Failure): void {
    const now = this.#clock.monotonic();
    // Calls that were under way together fail together: that counts as one failure.
    if (this.#failure === undefined || now >= this.#aloneUntilMs) this.#aloneUntilMs = now + this.#backoff.next();
    this.#failure = failure;
  }

  worked(reach: Reach): void {
    if (reach === "local" && this.#failure?.kind === "leaderless") return;
    this.#failure = undefined;
    this.#backoff.reset();
  }

  /** One call. Rejects with the signal's reason; every other end is an outcome. */
  call<Req, Res>(method: Method<Req, Res>, request: Req, { reach, limitMs, signal }: Attempt): Promise<Outcome<Res>> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      let silent = false;
      const { path, encode, decode } = method;
      const span = this.#tracer?.rpc(path);
      const call = this.#client.makeUnaryRequest(
        path,
        encode,
        decode,
        request,
        span === undefined ? METADATA[reach] : withTrace(METADATA[reach], span.headers()),
        {},
        (error, answer) => {
          if (error !== null) span?.fail(error.details);
          span?.end();
          timer.cancel();
          signal?.removeEventListener("abort", onAbort);
          if (error === null && answer !== undefined) resolve({ ok: true, answer });
          else if (signal?.aborted) reject(signal.reason);
          else
            resolve({ ok: false, failure: silent ? silence(reach === "cluster" && this.connected) : failureOf(error) });
        },
      );
      const onAbort = () => call.cancel();
      const timer = this.#clock.timer(limitMs, () => {
        silent = true;
        call.cancel();
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** A member that loses its leader ends such a stream, so that the watch can move on. */
  openWatch(): WatchStream {
    const { path, encode, decode } = this.#rpc.watch;
    return this.#client.makeBidiStreamRequest(path, encode, decode, METADATA.cluster);
  }

  close(): void {
    this.#client.close();
  }
}

function hasLeader(): Metadata {
  const metadata = new Metadata();
  metadata.set("hasleader", "true");
  return metadata;
}

function withTrace(metadata: Metadata, headers: Readonly<Record<string, string>>): Metadata {
  const traced = metadata.clone();
  for (const [name, value] of Object.entries(headers)) traced.set(name, value);
  return traced;
}
