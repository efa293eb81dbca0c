/**
 * Listens on UDP and TCP, and answers.
 *
 *     datagram ──► readQuestion ──► Resolver ──► zone (at once) | upstream (later) ──► writeAnswer ──► datagram
 *
 * 1. Whatever arrives, the server stays up: what cannot be read gets a refusal or nothing.
 * 2. A connection is bounded in time, in questions that wait, and in bytes: who asks and does not listen is not read any further.
 * 3. Answers of the zone of one record are kept as bytes until the zone changes: most questions are asked again and again. What others
 *    had a part in is not kept here.
 */
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, isIPv6, type Socket } from "node:net";
import { andThen, attempt, type Clock, isPending, type Logger, type Maybe, MemoMap, type Timer } from "#base";
import { CODES, PLAIN_UDP_BYTES, type Question, readQuestion, writeAnswer, writeFailure } from "./message.ts";
import type { DnsMetrics } from "./metrics.ts";
import { failure, type Resolution, type Resolver } from "./resolver.ts";
import type { Zone } from "./zone.ts";

export interface DnsServerOptions {
  readonly address: string;
  /** 0 picks a free one, the same for both. */
  readonly port: number;
  readonly resolver: Resolver;
  readonly zone: Zone;
  readonly metrics: DnsMetrics;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface DnsServer {
  readonly port: number;
  stop(): Promise<void>;
}

const MAX_TCP_BYTES = 65_535;
/** Whatever a client says that it takes: larger datagrams are lost on their way, and are what others are flooded with. */
const MAX_UDP_BYTES = 4096;
const MAX_WAITING = 64;
const IDLE_MS = 10_000;
const MAX_CONNECTIONS = 500;
const MAX_KEPT = 10_000;

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

/** Undefined: nothing is said. */
type Respond = (message: Buffer, overTcp: boolean) => Maybe<Buffer | undefined>;

function responder({ resolver, zone, metrics, clock, log }: DnsServerOptions): Respond {
  const kept = new MemoMap<string, Buffer>(MAX_KEPT);
  let generation = zone.generation;
  return (message, overTcp) => {
    const start = clock.monotonic();
    const reading = readQuestion(message);
    if (!reading.ok) {
      metrics.refused();
      return reading.id === undefined ? undefined : writeFailure(reading.id, reading.code);
    }
    const { question } = reading;
    const limit = overTcp ? MAX_TCP_BYTES : Math.min(question.udpBytes ?? PLAIN_UDP_BYTES, MAX_UDP_BYTES);
    if (generation !== zone.generation) kept.clear();
    generation = zone.generation;
    const key = `${question.bytes.toString("latin1")}${question.edns}`;
    const known = kept.get(key);
    if (known !== undefined && known.length <= limit) {
      const copy = Buffer.from(known);
      copy.writeUInt16BE(question.id, 0);
      copy[2] = ((known[2] ?? 0) & 0xfe) | (question.recursionDesired ? 1 : 0);
      metrics.answered(question.type, (copy[3] ?? 0) & 0x0f, clock.monotonic() - start, overTcp);
      return copy;
    }
    const finish = (resolution: Resolution, isOurs = false): Buffer => {
      const bytes =
        "bytes" in resolution
          ? fitting(resolution.bytes, question, limit)
          : writeAnswer(question, resolution.answer, limit);
      const same = isOurs && "answer" in resolution && resolution.answer.records.length <= 1;
      const whole = ((bytes[2] ?? 0) & 0x02) === 0;
      if (same && whole && generation === zone.generation) kept.set(key, bytes);
      metrics.answered(question.type, (bytes[3] ?? 0) & 0x0f, clock.monotonic() - start, overTcp);
      return bytes;
    };
    const failed = (error: unknown) => {
      log.error("a DNS question failed", { name: question.name, error });
      return finish({ answer: failure(CODES.failed) });
    };
    return attempt(() => {
      const resolution = resolver.resolve(question);
      return isPending(resolution) ? resolution.then((answer) => finish(answer)) : finish(resolution, true);
    }, failed);
  };
}

/** An answer from upstream that is larger than the asker takes is cut to its question: they ask again over TCP. */
function fitting(bytes: Buffer, question: Question, limit: number): Buffer {
  if (bytes.length <= limit) return bytes;
  const cut = Buffer.concat([bytes.subarray(0, 12), question.bytes]);
  cut[2] = (cut[2] ?? 0) | 0x02;
  cut.fill(0, 6, 12);
  return cut;
}

function answerDatagram(
  socket: UdpSocket,
  message: Buffer,
  from: RemoteInfo,
  respond: Respond,
  isClosed: () => boolean,
): void {
  const send = (bytes: Buffer | undefined) => {
    // Who asked may be gone; there is nobody to tell.
    if (bytes !== undefined && from.port !== 0 && !isClosed()) socket.send(bytes, from.port, from.address, () => {});
  };
  void andThen(respond(message, false), send);
}

/** Answers go out in the order in which they are ready: their ids tell them apart. */
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
    // A question that has begun has to end soon: a byte from time to time would hold the connection for ever.
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

/** Where the first message ends; beyond all bytes while that is not known. */
function endOf(received: Buffer): number {
  return received.length < 2 ? Number.POSITIVE_INFINITY : 2 + received.readUInt16BE(0);
}

function write(socket: Socket, bytes: Buffer | undefined): void {
  if (bytes === undefined || !socket.writable) return;
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  socket.write(Buffer.concat([length, bytes]));
}
