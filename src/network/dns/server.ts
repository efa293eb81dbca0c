/**
 * The DNS server's sockets: UDP and TCP.
 *
 *     datagram ──► responder ──► datagram
 *
 * 1. The server survives any input: unreadable messages get a failure, or no response.
 * 2. A TCP connection is bounded in time, pending questions and bytes: a client that does not read its responses is not
 *    read any further.
 */
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, isIPv6, type Socket } from "node:net";
import { andThen, type Clock, isPending, type Timer } from "#base";
import { type Respond, type ResponderOptions, responder } from "./responder.ts";

export interface DnsServerOptions extends ResponderOptions {
  readonly address: string;
  /** 0 picks a free port, the same for UDP and TCP. */
  readonly port: number;
}

export interface DnsServer {
  readonly port: number;
  stop(): Promise<void>;
}

const MAX_WAITING = 64;
const IDLE_MS = 10_000;
const MAX_CONNECTIONS = 500;

export async function startDnsServer(options: DnsServerOptions): Promise<DnsServer> {
  const { address, log } = options;
  const respond = responder(options);
  const udp = createSocket({ type: isIPv6(address) ? "udp6" : "udp4", reuseAddr: false });
  await new Promise<void>((resolve, reject) => {
    udp.once("error", reject);
    udp.bind(options.port, address, () => {
      udp.off("error", reject);
      resolve();
    });
  });
  const { port } = udp.address();
  udp.on("error", (error) => log.warn("the DNS server's socket failed", { error }));
  let isClosed = false;
  udp.on("message", (message, from) => answerDatagram(udp, message, from, respond, () => isClosed));

  const connections = new Set<Socket>();
  const tcp = createServer({ noDelay: true }, (socket) => {
    connections.add(socket);
    socket.on("close", () => connections.delete(socket));
    serveConnection(socket, respond, options.clock);
  });
  tcp.maxConnections = MAX_CONNECTIONS;
  try {
    tcp.listen(port, address);
    await once(tcp, "listening");
  } catch (error) {
    udp.close();
    throw error;
  }
  return {
    port,
    async stop() {
      isClosed = true;
      for (const socket of connections) socket.destroy();
      await Promise.all([
        new Promise<void>((resolve) => tcp.close(() => resolve())),
        new Promise<void>((resolve) => udp.close(() => resolve())),
      ]);
    },
  };
}

function answerDatagram(
  socket: UdpSocket,
  message: Buffer,
  from: RemoteInfo,
  respond: Respond,
  isClosed: () => boolean,
): void {
  const send = (bytes: Buffer | undefined) => {
    // The client may be gone: send errors are ignored.
    if (bytes !== undefined && from.port !== 0 && !isClosed()) socket.send(bytes, from.port, from.address, () => {});
  };
  void andThen(respond(message, false), send);
}

/** Responses are sent in the order in which they are ready: clients match them by id. */
function serveConnection(socket: Socket, respond: Respond, clock: Clock): void {
  let received: Buffer = Buffer.alloc(0);
  let waiting = 0;
  let slow: Timer | undefined;
  const mayRead = () => waiting < MAX_WAITING && !socket.writableNeedDrain;
  const read = () => {
    for (let end = endOf(received); mayRead() && received.length >= end; end = endOf(received)) {
      const message = received.subarray(2, end);
      received = received.subarray(end);
      const answer = respond(message, true);
      if (!isPending(answer)) {
        write(socket, answer);
        continue;
      }
      waiting += 1;
      void answer.then((bytes) => {
        waiting -= 1;
        write(socket, bytes);
        read();
      });
    }
    if (mayRead()) socket.resume();
    else socket.pause();
    // An incomplete question has to be completed soon: a byte now and then must not hold the connection forever.
    if (received.length === 0 || !mayRead()) {
      slow?.cancel();
      slow = undefined;
    } else if (!socket.destroyed) slow ??= clock.timer(IDLE_MS, () => socket.destroy());
  };
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  socket.on("close", () => slow?.cancel());
  socket.on("drain", read);
  socket.on("data", (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    read();
  });
}

/** The end of the first message; infinite until its length has arrived. */
function endOf(received: Buffer): number {
  return received.length < 2 ? Number.POSITIVE_INFINITY : 2 + received.readUInt16BE(0);
}

function write(socket: Socket, bytes: Buffer | undefined): void {
  if (bytes === undefined || !socket.writable) return;
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  socket.write(Buffer.concat([length, bytes]));
}
