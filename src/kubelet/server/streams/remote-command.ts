/**
 * exec and attach over a WebSocket: its channels are streams to the runtime.
 *
 *     caller ──► WebSocket channels ──► SPDY streams ──► runtime ──► process
 *            ◄──  stdout, stderr   ◄──               ◄──
 *            ◄──  outcome          ◄── error stream
 *
 * 1. Closing a channel ends only its stream: `echo x | kubectl exec -i pod -- cat` terminates.
 * 2. A slow client slows the process down; nothing is buffered without limit.
 * 3. The outcome is sent once. A runtime that disconnects without one is a failure.
 */
import type { Duplex } from "node:stream";
import { SpdyClient, type SpdyStream } from "./spdy-client.ts";
import type { AcceptedSocket } from "./upgrade.ts";
import { WebSocketChannels } from "./web-socket-channels.ts";

const [STDIN, STDOUT, STDERR, ERROR, RESIZE] = [0, 1, 2, 3, 4];
const MAX_WAITING_BYTES = 1024 * 1024;
const NORMAL_CLOSE = 1000;
/** The subprotocol that runtimes speak. */
export const COMMAND_PROTOCOLS = ["v4.channel.k8s.io"];

export interface WantedStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** Resolves when both sides are closed. */
export async function remoteCommand(
  { socket, protocol, closed }: AcceptedSocket,
  connection: Duplex,
  wanted: WantedStreams,
): Promise<void> {
  const channels = new WebSocketChannels(socket, protocol);
  const runtime = new SpdyClient(connection);
  const finished = Promise.withResolvers<void>();
  const open = new Set<string>();
  const stream = (streamtype: string, data: (bytes: Buffer) => void, end?: () => void) => {
    open.add(streamtype);
    return runtime.open(
      { streamtype },
      {
        data,
        end() {
          end?.();
          open.delete(streamtype);
          if (open.size === 0) finished.resolve();
        },
      },
    );
  };
  const show = (channel: number) => (bytes: Buffer) => {
    channels.send(channel, bytes, () => {
      if (channels.waitingBytes < MAX_WAITING_BYTES) runtime.resume();
    });
    if (channels.waitingBytes >= MAX_WAITING_BYTES) runtime.pause();
  };

  const received: Buffer[] = [];
  stream(
    "error",
    (bytes) => void received.push(bytes),
    () => channels.send(ERROR, outcome(Buffer.concat(received), channels.protocol.hasStatus)),
  );
  const inputs = new Map<number, SpdyStream>();
  if (wanted.stdin) inputs.set(STDIN, runtime.open({ streamtype: "stdin" }, {}));
  if (wanted.stdout) stream("stdout", show(STDOUT));
  if (wanted.stderr) stream("stderr", show(STDERR));
  if (wanted.tty) inputs.set(RESIZE, runtime.open({ streamtype: "resize" }, {}));

  channels.onMessage(({ channel, bytes }) => {
    const input = inputs.get(channel);
    if (bytes === undefined) input?.end();
    else if (input?.write(bytes) === false) return runtime.drained();
    return undefined;
  });
  // An empty message on an output channel says that the stream has started. Clients of version 5 know it by themselves,
  // and kubectl complains if the message comes before it has made its streams.
  if (!channels.protocol.hasClose)
    channels.send(wanted.stdout ? STDOUT : wanted.stderr ? STDERR : ERROR, Buffer.alloc(0));

  socket.once("close", () => runtime.close());
  await Promise.race([finished.promise, closed]);
  socket.close(NORMAL_CLOSE);
  runtime.close();
  await Promise.all([closed, runtime.closed]);
}

interface Outcome {
  readonly status?: string;
  readonly message?: string;
}

const LOST = "the connection to the container runtime was lost";

function outcome(received: Buffer, asStatus: boolean): Buffer {
  const failure = { metadata: {}, status: "Failure", message: LOST, reason: "InternalError", code: 500 };
  const known = received.length > 0 ? received : Buffer.from(JSON.stringify(failure));
  if (asStatus) return known;
  const { status, message = "" } = parsed(known.toString());
  return Buffer.from(status === "Success" ? "" : message);
}

/** Text that is not a Status is an error message. */
function parsed(text: string): Outcome {
  const failure = { status: "Failure", message: text };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return failure;
    const { status, message } = value as { readonly status?: unknown; readonly message?: unknown };
    if (typeof status !== "string") return failure;
    return { status, message: typeof message === "string" ? message : "" };
  } catch {
    return failure;
  }
}
