/**
 * A CSI driver without a socket: the calls of `openCsiDriver`, answered by handlers in this process.
 *
 * 1. Messages are encoded and decoded: absent fields have their zero values, and no object is shared by both sides.
 * 2. There are no timers: a call takes as long as its handler, or ends with its signal.
 */
import { abortable } from "#base";
import { GrpcError, grpcErrorOf, type HandlerContext } from "#grpc";
import type { CsiCallOptions, CsiDriver } from "./client.ts";
import type { CsiImplementation } from "./serve.ts";
import { csiServices } from "./services.ts";

interface AnyMethod {
  readonly path: string;
  readonly streams: boolean;
  readonly encode: (request: unknown) => Buffer;
  readonly decodeRequest: (bytes: Buffer) => unknown;
  readonly encodeResponse: (response: unknown) => Buffer;
  readonly decode: (bytes: Buffer) => unknown;
}
type AnyHandler = (request: unknown, context: HandlerContext) => unknown;

export function inProcessDriver(endpoint: string, implementation: CsiImplementation): CsiDriver {
  const services = Object.entries(csiServices()).map(([name, methods]) => {
    const handlers = (implementation as Readonly<Record<string, Readonly<Record<string, AnyHandler>> | undefined>>)[
      name
    ];
    const calls = Object.entries(methods as unknown as Readonly<Record<string, AnyMethod>>).map(([each, method]) => [
      each,
      method.streams ? stream(method, handlers?.[each]) : call(method, handlers?.[each]),
    ]);
    return [name, Object.fromEntries(calls)];
  });
  return { ...(Object.fromEntries(services) as Omit<CsiDriver, "close" | "endpoint">), endpoint, close: () => {} };
}

function call(method: AnyMethod, handler: AnyHandler | undefined) {
  return async (request: unknown, { signal = new AbortController().signal }: CsiCallOptions = {}) => {
    if (handler === undefined) throw unimplemented(method);
    signal.throwIfAborted();
    const received = method.decodeRequest(method.encode(request));
    try {
      const work = Promise.resolve(handler(received, { signal, path: method.path }));
      return method.decode(method.encodeResponse(await abortable(work, signal)));
    } catch (error) {
      signal.throwIfAborted();
      throw statusOf(error);
    }
  };
}

function stream(method: AnyMethod, handler: AnyHandler | undefined) {
  return async function* (request: unknown, { signal }: { readonly signal: AbortSignal }) {
    if (handler === undefined) throw unimplemented(method);
    try {
      const received = method.decodeRequest(method.encode(request));
      const messages = handler(received, { signal, path: method.path }) as AsyncIterable<unknown>;
      for await (const message of messages) {
        signal.throwIfAborted();
        yield method.decode(method.encodeResponse(message));
      }
    } catch (error) {
      signal.throwIfAborted();
      throw statusOf(error);
    }
  };
}

function unimplemented({ path }: AnyMethod): GrpcError {
  return new GrpcError("UNIMPLEMENTED", `the server does not implement the method ${path}`);
}

/** As a server answers with it. */
function statusOf(error: unknown): GrpcError {
  const message = error instanceof Error ? error.message : String(error);
  return grpcErrorOf(error) ?? new GrpcError("INTERNAL", message, { cause: error });
}
