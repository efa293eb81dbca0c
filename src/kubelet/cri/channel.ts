/**
 * The gRPC connection to a runtime's socket.
 *
 * 1. Calls fail with a RuntimeError, or with the signal's reason.
 * 2. A stream of events that the runtime ends is a failure: events never end by themselves.
 */
import type { Metadata } from "@grpc/grpc-js";
import { type ChannelOptions, type Channel as GrpcChannel, type Method, openChannel as openGrpcChannel } from "#grpc";
import { RuntimeError } from "../runtime/runtime.ts";
import { failureOf } from "./failure.ts";

export type Channel = GrpcChannel;

/** `endpoint`: the path of a socket, or unix:///path as in the kubelet's flag. */
export function openChannel(endpoint: string, options: ChannelOptions): Channel {
  const channel = opened(endpoint, options);
  return {
    call: async (method, request, limits = {}) => {
      try {
        return await channel.call(method, request, limits);
      } catch (error) {
        if (limits.signal?.aborted) throw error;
        throw failureOf(error, method.path);
      }
    },
    stream: (method, request, signal, metadata) => endless(channel, method, request, signal, metadata),
    close: () => channel.close(),
  };
}

async function* endless<Request, Response>(
  channel: GrpcChannel,
  method: Method<Request, Response>,
  request: Request,
  signal: AbortSignal,
  metadata?: Metadata,
): AsyncGenerator<Response, void> {
  try {
    for await (const message of channel.stream(method, request, signal, metadata)) yield message;
  } catch (error) {
    throw failureOf(error, method.path);
  }
  if (!signal.aborted) throw new RuntimeError("Unavailable", `${method.path}: the runtime has ended the stream`);
}

function opened(endpoint: string, options: ChannelOptions): GrpcChannel {
  try {
    return openGrpcChannel(endpoint, options);
  } catch (error) {
    throw failureOf(error, endpoint);
  }
}
