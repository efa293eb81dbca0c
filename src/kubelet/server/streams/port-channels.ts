/**
 * Port forwarding over the channels of a WebSocket, two for each port: data and errors. The first message on a channel
 * is the port number.
 */
import type { Duplex } from "node:stream";
import { SpdyClient, type SpdyStream } from "./spdy-client.ts";
import type { AcceptedSocket } from "./upgrade.ts";
import { WebSocketChannels } from "./web-socket-channels.ts";

const MAX_WAITING_BYTES = 1024 * 1024;
const NORMAL_CLOSE = 1000;
/** The subprotocol that runtimes speak. */
export const PORT_PROTOCOLS = ["portforward.k8s.io"];

/** Resolves when both sides are closed. */
export async function portChannels(
  { socket, protocol, closed }: AcceptedSocket,
  connection: Duplex,
  ports: readonly number[],
): Promise<void> {
  const channels = new WebSocketChannels(socket, protocol);
  const runtime = new SpdyClient(connection);
  const finished = Promise.withResolvers<void>();
  let open = ports.length;
  const show = (channel: number) => (bytes: Buffer) => {
    channels.send(channel, bytes, () => {
      if (channels.waitingBytes < MAX_WAITING_BYTES) runtime.resume();
    });
    if (channels.waitingBytes >= MAX_WAITING_BYTES) runtime.pause();
  };
  const ended = () => {
    if (--open === 0) finished.resolve();
  };

  const inputs = new Map<number, SpdyStream>();
  for (const [index, port] of ports.entries()) {
    const number = Buffer.alloc(2);
    number.writeUInt16LE(port);
    for (const channel of [2 * index, 2 * index + 1]) channels.send(channel, number);
    const about = { port: String(port), requestid: String(index) };
    runtime.open({ streamtype: "error", ...about }, { data: show(2 * index + 1) }).end();
    inputs.set(2 * index, runtime.open({ streamtype: "data", ...about }, { data: show(2 * index), end: ended }));
  }
  channels.onMessage(({ channel, bytes }) => {
    const input = inputs.get(channel);
    if (bytes === undefined) input?.end();
    else if (input?.write(bytes) === false) return runtime.drained();
    return undefined;
  });
  socket.once("close", () => runtime.close());
  await Promise.race([finished.promise, closed]);
  socket.close(NORMAL_CLOSE);
  runtime.close();
  await Promise.all([closed, runtime.closed]);
}
