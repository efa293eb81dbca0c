/**
 * A command in a container, or a container's own process, over a WebSocket: its channels are streams to the runtime.
 *
 *     caller ──► WebSocket channels ──► SPDY streams ──► runtime ──► process
 *            ◄──  stdout, stderr   ◄──               ◄──
 *            ◄──  outcome          ◄── error stream
 *
 * 1. A channel that the caller closes ends its stream, and only that: `echo x | kubectl exec -i pod -- cat` comes to its end.
 * 2. Whoever takes output slowly slows the process down; nothing piles up here.
 * 3. The outcome is told once. A runtime that leaves without one is a failure.
 */
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { SpdyClient, type SpdyStream } from "./spdy-client.ts";
import type { AcceptedSocket } from "./upgrade.ts";
import { WebSocketChannels } from "./web-socket-channels.ts";

const [STDIN, STDOUT, STDERR, ERROR, RESIZE] = [0, 1, 2, 3, 4];
const MAX_WAITING_BYTES = 1024 * 1024;
const NORMAL_CLOSE = 1000;
/** What runtimes are asked for. */
export const COMMAND_PROTOCOLS = ["v4.channel.k8s.io"];

export interface WantedStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** Until both sides are closed. */
export async function remoteCommand(
  { socket, protocol }: AcceptedSocket,
  connection: Duplex,
  wanted: WantedStreams,
): Promise<void> {
  const channels = new WebSocketChannels(socket, protocol);
  const runtime = new SpdyClient(connection);
  const closed = once(socket, "close");
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

  const told: Buffer[] = [];
  stream(
    "error",
    (bytes) => void told.push(bytes),
    () => channels.send(ERROR, outcome(Buffer.concat(told), channels.protocol.hasStatus)),
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
  // Tells the caller that it has begun, as the original does.
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

function outcome(told: Buffer, asStatus: boolean): Buffer {
  const failure = { metadata: {}, status: "Failure", message: LOST, reason: "InternalError", code: 500 };
  const known = told.length > 0 ? told : Buffer.from(JSON.stringify(failure));
  if (asStatus) return known;
  const { status, message = "" } = parsed(known.toString());
  return Buffer.from(status === "Success" ? "" : message);
}

/** What is no Status is a sentence. */
function parsed(text: string): Outcome {
  try {
    return JSON.parse(text) as Outcome;
  } catch {
    return { status: "Failure", message: text };
  }
}
