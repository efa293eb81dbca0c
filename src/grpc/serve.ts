/**
 * Serves gRPC services at a Unix socket.
 *
 * 1. A handler throws a GrpcError to answer with its code. Any other error is answered with INTERNAL and reported.
 * 2. A handler's signal aborts when the caller goes away or cancels, and when the server is closed.
 * 3. A method without a handler is answered with UNIMPLEMENTED.
 * 4. A socket that a killed process left behind is replaced.
 */
import { rm } from "node:fs/promises";
import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
  type UntypedHandleCall,
} from "@grpc/grpc-js";
import { type Clock, childController } from "#base";
import { socketPath } from "./channel.ts";
import { GrpcError, grpcErrorOf } from "./grpc-error.ts";
import type { MessageTable, Methods, MethodTable, Received, Sent, ServedMethod } from "./schema.ts";

export interface HandlerContext {
  readonly signal: AbortSignal;
  /** `/package.Service/Method` */
  readonly path: string;
}

type Handler<Request, Response, Stream> = Stream extends "stream"
  ? (request: Request, context: HandlerContext) => AsyncIterable<Response>
  : (request: Request, context: HandlerContext) => Promise<Response>;

/** What a server does for the methods of a service. */
export type Handlers<M extends MessageTable, S extends MethodTable> = {
  readonly [K in keyof S]: Handler<Received<M, S[K][0]>, Sent<M, S[K][1]>, S[K][2]>;
};

/** A service with its handlers, of any type. */
export interface ServedService {
  readonly methods: Readonly<Record<string, ServedMethod<never, unknown>>>;
  readonly handlers: Readonly<Record<string, (request: never, context: HandlerContext) => unknown>>;
}

export function servedService<M extends MessageTable, S extends MethodTable>(
  methods: Methods<M, S>,
  handlers: Partial<Handlers<M, S>>,
): ServedService {
  return { methods, handlers } as unknown as ServedService;
}

export interface ServeOptions {
  readonly clock: Clock;
  /** An error without a status: a defect of the handler, or of what it uses. */
  readonly onError: (path: string, error: unknown) => void;
  /** How long calls may continue after `close`. Default: 5 seconds. */
  readonly graceMs?: number | undefined;
}

export interface GrpcServer {
  /** Lets calls end, then removes the socket. */
  close(): Promise<void>;
}

const GRACE_MS = 5_000;

export async function serveGrpc(
  endpoint: string,
  services: readonly ServedService[],
  options: ServeOptions,
): Promise<GrpcServer> {
  const path = socketPath(endpoint);
  const server = new Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
  const running = new AbortController();
  for (const service of services) addService(server, service, running.signal, options);
  await rm(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${path}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  const ended = () => new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  return {
    async close() {
      const forced = options.clock.timer(options.graceMs ?? GRACE_MS, () => {
        running.abort(new GrpcError("UNAVAILABLE", "the server is stopping"));
        server.forceShutdown();
      });
      await ended();
      forced.cancel();
      await rm(path, { force: true });
    },
  };
}

function addService(server: Server, { methods, handlers }: ServedService, signal: AbortSignal, options: ServeOptions) {
  const named = Object.entries(methods).filter(([name]) => Object.hasOwn(handlers, name));
  const definition = named.map(([name, { path, streams, ...codecs }]) => [
    name,
    {
      path,
      requestStream: false,
      responseStream: streams,
      requestSerialize: codecs.encode,
      requestDeserialize: codecs.decodeRequest,
      responseSerialize: codecs.encodeResponse,
      responseDeserialize: codecs.decode,
    },
  ]);
  const implementation = named.map(([name, { path, streams }]) => {
    const handle = handlers[name] as (request: unknown, context: HandlerContext) => unknown;
    return [name, streams ? streaming(handle, path, signal, options) : unary(handle, path, signal, options)];
  });
  server.addService(Object.fromEntries(definition), Object.fromEntries(implementation));
}

type AnyHandler = (request: unknown, context: HandlerContext) => unknown;

function unary(handle: AnyHandler, path: string, running: AbortSignal, { onError }: ServeOptions): UntypedHandleCall {
  return (call: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>) => {
    const ending = childController(running);
    call.on("cancelled", () => ending.abort(new GrpcError("CANCELLED", "the caller has cancelled")));
    const work = async () => handle(call.request, { signal: ending.signal, path });
    work()
      .then(
        (response) => answer(null, response),
        (error: unknown) => answer(answerOf(error, path, onError)),
      )
      .finally(() => ending[Symbol.dispose]());
  };
}

function streaming(handle: AnyHandler, path: string, running: AbortSignal, options: ServeOptions): UntypedHandleCall {
  return (call: ServerWritableStream<unknown, unknown>) => {
    const ending = childController(running);
    call.on("cancelled", () => ending.abort(new GrpcError("CANCELLED", "the caller has cancelled")));
    const work = async () => {
      const messages = handle(call.request, { signal: ending.signal, path }) as AsyncIterable<unknown>;
      for await (const message of messages) {
        if (!call.write(message)) await new Promise<void>((resolve) => call.once("drain", resolve));
        ending.throwIfAborted();
      }
    };
    work()
      .then(
        () => call.end(),
        (error: unknown) => call.emit("error", answerOf(error, path, options.onError)),
      )
      .finally(() => ending[Symbol.dispose]());
  };
}

function answerOf(error: unknown, path: string, onError: ServeOptions["onError"]) {
  const known = grpcErrorOf(error);
  if (known === undefined) onError(path, error);
  const { code, details } = known ?? { code: "INTERNAL" as const, details: messageOf(error) };
  return { code: status[code], details };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
