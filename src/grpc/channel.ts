/**
 * One gRPC connection to a Unix socket: calls with a deadline, and streams.
 *
 * 1. A call that is aborted or times out is cancelled in the server, too.
 * 2. While the server is unavailable calls fail immediately. The connection is re-established automatically.
 * 3. A call fails with a GrpcError, or with the signal's reason.
 */
import { type CallOptions, Client, credentials, Metadata } from "@grpc/grpc-js";
import type { Clock } from "#base";
import type { Span, Tracer } from "#tracing";
import { GrpcError, grpcErrorOf } from "./grpc-error.ts";
import type { Method } from "./schema.ts";

export interface CallLimits {
  /** Default: the channel's. 0: no timeout. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly metadata?: Metadata | undefined;
}

export interface Channel {
  call<Request, Response>(method: Method<Request, Response>, request: Request, limits?: CallLimits): Promise<Response>;
  /** Yields what the server sends until it ends the stream or the signal aborts; throws when the connection breaks. */
  stream<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    signal: AbortSignal,
    metadata?: Metadata,
  ): AsyncGenerator<Response, void>;
  close(): void;
}

export interface ChannelOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Calls during a traced work have spans, and name them to the server. */
  readonly tracer?: Tracer | undefined;
}

const SETTINGS = {
  "grpc.use_local_subchannel_pool": 1,
  "grpc.enable_http_proxy": 0,
  "grpc.enable_retries": 0,
  "grpc.max_receive_message_length": -1,
  "grpc.max_send_message_length": -1,
  // Servers written in Go refuse the path of a socket as the authority.
  "grpc.default_authority": "localhost",
  // Reconnect quickly: callers can do nothing while the server is away.
  "grpc.initial_reconnect_backoff_ms": 50,
  "grpc.min_reconnect_backoff_ms": 50,
  "grpc.max_reconnect_backoff_ms": 100,
};

/** `endpoint`: the path of a socket, or unix:///path as in Kubernetes' flags. */
export function openChannel(endpoint: string, options: ChannelOptions): Channel {
  const client = new Client(socketTarget(endpoint), credentials.createInsecure(), SETTINGS);
  return {
    call: (method, request, { timeoutMs, ...limits } = {}) =>
      call(client, method, request, { ...options, ...limits, timeoutMs: timeoutMs ?? options.timeoutMs }),
    stream: (method, request, signal, metadata) => stream(client, method, request, signal, metadata),
    close: () => client.close(),
  };
}

export function socketTarget(endpoint: string): string {
  return `unix://${socketPath(endpoint)}`;
}

export function socketPath(endpoint: string): string {
  const path = endpoint.startsWith("unix://") ? endpoint.slice("unix://".length) : endpoint;
  if (path.startsWith("/")) return path;
  throw new GrpcError("UNAVAILABLE", `"${endpoint}" is no socket: it should look like unix:///run/name/name.sock.`);
}

interface Bounds {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly metadata?: Metadata | undefined;
  readonly tracer?: Tracer | undefined;
}

function call<Request, Response>(
  client: Client,
  { path, encode, decode }: Method<Request, Response>,
  request: Request,
  { clock, timeoutMs, signal, metadata = new Metadata(), tracer }: Bounds,
): Promise<Response> {
  signal?.throwIfAborted();
  const span = tracer?.rpc(path);
  const all = withTrace(metadata, span);
  return new Promise<Response>((resolve, reject) => {
    const sent = client.makeUnaryRequest(path, encode, decode, request, all, (error, response) => {
      if (error !== null) span?.fail(error.details);
      span?.end();
      deadline?.cancel();
      signal?.removeEventListener("abort", abort);
      if (signal?.aborted) reject(signal.reason);
      else if (isLate) reject(new GrpcError("DEADLINE_EXCEEDED", late(path, timeoutMs), { cause: error }));
      else if (error !== null) reject(failureOf(error, path));
      else if (response === undefined) reject(new GrpcError("UNKNOWN", `${path}: an empty answer`));
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

/** A copy, because callers may send theirs again. */
function withTrace(metadata: Metadata, span: Span | undefined): Metadata {
  if (span === undefined) return metadata;
  const traced = metadata.clone();
  for (const [name, value] of Object.entries(span.headers())) traced.set(name, value);
  return traced;
}

function late(path: string, timeoutMs: number): string {
  return `${path} was not answered within ${timeoutMs / 1000} s`;
}

function failureOf(error: unknown, path: string): GrpcError {
  return grpcErrorOf(error) ?? new GrpcError("UNKNOWN", `${path}: ${String(error)}`, { cause: error });
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
  } catch (error) {
    if (!signal.aborted) throw failureOf(error, path);
  } finally {
    signal.removeEventListener("abort", abort);
    received.cancel();
  }
}
