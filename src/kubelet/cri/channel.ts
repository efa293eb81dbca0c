/**
 * One gRPC connection to a runtime's socket: calls with a deadline, and streams.
 *
 * 1. A call that is aborted or times out is cancelled in the runtime, too.
 * 2. While the runtime is unavailable calls fail immediately. The connection is re-established automatically.
 */
import { type CallOptions, Client, credentials, Metadata } from "@grpc/grpc-js";
import type { Clock } from "#base";
import { RuntimeError } from "../runtime/runtime.ts";
import { failureOf } from "./failure.ts";
import type { Method } from "./schema.ts";

export interface CallLimits {
  /** Default: the channel's. 0: no timeout. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
  readonly metadata?: Metadata | undefined;
}

export interface Channel {
  call<Request, Response>(method: Method<Request, Response>, request: Request, limits?: CallLimits): Promise<Response>;
  /** Yields what the runtime sends until the signal aborts; throws when the connection breaks. */
  stream<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    signal: AbortSignal,
    metadata?: Metadata,
  ): AsyncGenerator<Response, void>;
  close(): void;
}

const SETTINGS = {
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_http_proxy": 0,
  "grpc.enable_retries": 0,
  "grpc.max_receive_message_length": -1,
  "grpc.max_send_message_length": -1,
  // Reconnect quickly: the kubelet can do nothing while the runtime is away.
  "grpc.initial_reconnect_backoff_ms": 50,
  "grpc.min_reconnect_backoff_ms": 50,
  "grpc.max_reconnect_backoff_ms": 100,
};

/** `endpoint`: the path of a socket, or unix:///path as in the kubelet's flag. */
export function openChannel(endpoint: string, options: { readonly clock: Clock; readonly timeoutMs: number }): Channel {
  const client = new Client(socketTarget(endpoint), credentials.createInsecure(), SETTINGS);
  return {
    call: (method, request, limits = {}) => call(client, method, request, { ...options, ...limits }),
    stream: (method, request, signal, metadata) => stream(client, method, request, signal, metadata),
    close: () => client.close(),
  };
}

export function socketTarget(endpoint: string): string {
  const path = endpoint.startsWith("unix://") ? endpoint.slice("unix://".length) : endpoint;
  if (!path.startsWith("/")) {
    throw new RuntimeError(
      "Unavailable",
      `"${endpoint}" is no socket: it should look like unix:///run/containerd/containerd.sock.`,
    );
  }
  return `unix://${path}`;
}

interface Bounds {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly metadata?: Metadata | undefined;
}

function call<Request, Response>(
  client: Client,
  { path, encode, decode }: Method<Request, Response>,
  request: Request,
  { clock, timeoutMs, signal, metadata = new Metadata() }: Bounds,
): Promise<Response> {
  signal?.throwIfAborted();
  return new Promise<Response>((resolve, reject) => {
    const sent = client.makeUnaryRequest(path, encode, decode, request, metadata, (error, response) => {
      deadline?.cancel();
      signal?.removeEventListener("abort", abort);
      if (signal?.aborted) reject(signal.reason);
      else if (isLate) reject(new RuntimeError("DeadlineExceeded", late(path, timeoutMs), { cause: error }));
      else if (error !== null) reject(failureOf(error, path));
      else if (response === undefined) reject(new RuntimeError("Unknown", `${path}: an empty answer`));
      else resolve(response);
    });
    let isLate = false;
    const deadline =
      timeoutMs === 0
        ? undefined
        : clock.timer(timeoutMs, () => {
            isLate = true;
            sent.cancel();
          });
    const abort = () => sent.cancel();
    signal?.addEventListener("abort", abort, { once: true });
  });
}

function late(path: string, timeoutMs: number): string {
  return `rpc error: code = DeadlineExceeded desc = ${path} was not answered within ${timeoutMs / 1000} s`;
}

async function* stream<Request, Response>(
  client: Client,
  { path, encode, decode }: Method<Request, Response>,
  request: Request,
  signal: AbortSignal,
  metadata?: Metadata,
): AsyncGenerator<Response, void> {
  if (signal.aborted) return;
  const options: CallOptions = {};
  const received =
    metadata === undefined
      ? client.makeServerStreamRequest(path, encode, decode, request, options)
      : client.makeServerStreamRequest(path, encode, decode, request, metadata, options);
  const abort = () => received.cancel();
  signal.addEventListener("abort", abort, { once: true });
  try {
    for await (const message of received) yield message as Response;
    if (!signal.aborted) throw new RuntimeError("Unavailable", `${path}: the runtime has ended the stream`);
  } catch (error) {
    if (!signal.aborted) throw failureOf(error, path);
  } finally {
    signal.removeEventListener("abort", abort);
    received.cancel();
  }
}
