/**
 * Listens on UDP and TCP, and answers.
 *
 *     datagram ──► readQuestion ──► Resolver ──► zone (at once) | upstream (later) ──► writeAnswer ──► datagram
 *
 * 1. Whatever arrives, the server stays up: what cannot be read gets a refusal or nothing.
 * 2. A connection is bounded in time, in questions that wait, and in bytes.
 * 3. Answers of one record are kept as bytes until the zone changes: most questions are asked again and again.
 */
import { createSocket, type RemoteInfo, type Socket as UdpSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, isIPv6, type Socket } from "node:net";
import type { Clock, Logger } from "#base";
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
  udp.on("message", (message, from) => answerDatagram(udp, message, from, respond));

  const connections = new Set<Socket>();
  const tcp = createServer({ noDelay: true }, (socket) => {
    connections.add(socket);
    socket.on("close", () => connections.delete(socket));
    serveConnection(socket, respond);
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
      for (const socket of connections) socket.destroy();
      await Promise.all([
        new Promise<void>((resolve) => tcp.close(() => resolve())),
        new Promise<void>((resolve) => udp.close(() => resolve())),
      ]);
    },
  };
}

/** Undefined: nothing is said. */
type Respond = (message: Buffer, overTcp: boolean) => Buffer | undefined | Promise<Buffer | undefined>;

function responder({ resolver, zone, metrics, clock, log }: DnsServerOptions): Respond {
  const kept = new Map<string, Buffer>();
  let generation = zone.generation;
  return (message, overTcp) => {
    const start = clock.monotonic();
    const reading = readQuestion(message);
    if (!reading.ok) {
      metrics.refused();
      return reading.id === undefined ? undefined : writeFailure(reading.id, reading.code);
    }
    const { question } = reading;
    const limit = overTcp ? MAX_TCP_BYTES : (question.udpBytes ?? PLAIN_UDP_BYTES);
    if (generation !== zone.generation || kept.size > MAX_KEPT) kept.clear();
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
    const finish = (resolution: Resolution): Buffer => {
      const bytes =
        "bytes" in resolution
          ? fitting(resolution.bytes, question, limit)
          : writeAnswer(question, resolution.answer, limit);
      const same = "answer" in resolution && resolution.answer.authoritative && resolution.answer.records.length <= 1;
      const whole = ((bytes[2] ?? 0) & 0x02) === 0;
      if (same && whole && generation === zone.generation) kept.set(key, bytes);
      metrics.answered(question.type, (bytes[3] ?? 0) & 0x0f, clock.monotonic() - start, overTcp);
      return bytes;
    };
    const resolution = resolver.resolve(question);
    if (!(resolution instanceof Promise)) return finish(resolution);
    return resolution.then(finish, (error: unknown) => {
      log.error("a DNS question failed", { name: question.name, error });
      return finish({ answer: failure(CODES.failed) });
    });
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

function answerDatagram(socket: UdpSocket, message: Buffer, from: RemoteInfo, respond: Respond): void {
  const send = (bytes: Buffer | undefined) => {
    // Who asked may be gone; there is nobody to tell.
    if (bytes !== undefined && from.port !== 0) socket.send(bytes, from.port, from.address, () => {});
  };
  const answer = respond(message, false);
  if (answer instanceof Promise) answer.then(send, () => {});
  else send(answer);
}

/** Answers go out in the order in which they are ready: their ids tell them apart. */
function serveConnection(socket: Socket, respond: Respond): void {
  let received: Buffer = Buffer.alloc(0);
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  socket.on("error", () => socket.destroy());
  socket.on("data", (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    while (received.length >= 2) {
      const end = 2 + received.readUInt16BE(0);
      if (received.length < end) return;
      const message = received.subarray(2, end);
      received = received.subarray(end);
      const answer = respond(message, true);
      if (answer instanceof Promise)
        answer.then(
          (bytes) => write(socket, bytes),
          () => socket.destroy(),
        );
      else write(socket, answer);
    }
  });
}

function write(socket: Socket, bytes: Buffer | undefined): void {
  if (bytes === undefined || !socket.writable) return;
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  socket.write(Buffer.concat([length, bytes]));
}
