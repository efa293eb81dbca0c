/**
 * One member of the cluster as the client reaches it: its channel, and single calls on it. health.ts knows its state.
 *
 * 1. A call ends by its time limit with an outcome, whatever the member does.
 * 2. A channel that does not answer can be replaced: a new connection need not wait for the retransmissions of the old.
 */

import { type Client, type ClientDuplexStream, connectivityState, Metadata } from "@grpc/grpc-js";
import type { Clock } from "#base";
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

export interface EndpointOptions {
  readonly url: string;
  openChannel(): Client;
  readonly rpc: Rpc;
  readonly clock: Clock;
  readonly tracer?: Tracer | undefined;
}

export class Endpoint {
  readonly url: string;
  readonly #openChannel: () => Client;
  readonly #rpc: Rpc;
  readonly #clock: Clock;
  readonly #tracer: Tracer | undefined;
  #client: Client;

  constructor({ url, openChannel, rpc, clock, tracer }: EndpointOptions) {
    this.url = url;
    this.#openChannel = openChannel;
    this.#client = openChannel();
    this.#rpc = rpc;
    this.#clock = clock;
    this.#tracer = tracer;
  }

  get connected(): boolean {
    return this.#client.getChannel().getConnectivityState(false) === connectivityState.READY;
  }

  /** The next call uses a new connection. Calls under way keep theirs until they end. */
  reconnect(): void {
    this.#client.close();
    this.#client = this.#openChannel();
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
