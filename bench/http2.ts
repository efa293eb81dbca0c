/**
 * The API server's own HTTP/2, without TLS and without a pipeline behind it: requests with small answers on several
 * connections.
 */
import { duplexPair } from "node:stream";
import { realClock, silentLogger } from "#base";
import { PREFACE } from "../src/apiserver/http2/codes.ts";
import { Http2Connection } from "../src/apiserver/http2/index.ts";
import { get, settings, windowUpdate } from "../src/apiserver/http2/testing/frames.ts";
import type { Figure } from "./run.ts";

const CONNECTIONS = 16;
/** Requests under way on each. */
const STREAMS = 16;
const WARM_UP_ROUNDS = 200;
const ROUNDS = 600;
const TURNS_OF_A_ROUND = 6;
const BODY = Buffer.alloc(900, "a");
const HEADERS = { "content-type": "application/json", "audit-id": "a".repeat(36) };

export async function run(report: (figure: Figure) => void): Promise<void> {
  const clients = Array.from({ length: CONNECTIONS }, connect);
  for (let i = 0; i < WARM_UP_ROUNDS; i++) await round(clients);
  const start = process.cpuUsage();
  for (let i = 0; i < ROUNDS; i++) await round(clients);
  const { user, system } = process.cpuUsage(start);
  for (const { socket } of clients) socket.destroy();
  const requests = ROUNDS * CONNECTIONS * STREAMS;
  report({ name: "a request over HTTP/2, the protocol alone", value: (user + system) / requests, unit: "µs" });
}

function connect() {
  const [socket, server] = duplexPair();
  socket.on("data", () => {});
  new Http2Connection({
    socket: server,
    idleMs: 90_000,
    clock: realClock(),
    log: silentLogger,
    // In a later turn, and with something that lives as long as the request, as in a server.
    onStream: (stream) =>
      void setImmediate(() => {
        const request = { isOver: false, parts: Array.from({ length: 20 }, (_, i) => ({ i })) };
        stream.once("close", () => {
          request.isOver = true;
        });
        stream.respond(200, HEADERS);
        stream.end(BODY);
      }),
  });
  socket.on("close", () => server.destroy());
  socket.write(Buffer.concat([PREFACE, settings(), windowUpdate(0, 2 ** 30)]));
  return { socket, nextId: 1 };
}

async function round(clients: readonly ReturnType<typeof connect>[]): Promise<void> {
  for (const client of clients) {
    client.socket.write(Buffer.concat(Array.from({ length: STREAMS }, (_, i) => get(client.nextId + 2 * i))));
    client.nextId += 2 * STREAMS;
  }
  for (let turn = 0; turn < TURNS_OF_A_ROUND; turn++) await new Promise(setImmediate);
}
