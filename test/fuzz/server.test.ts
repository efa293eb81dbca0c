/** A real port under hostile connections of both versions of HTTP: after each of them, good requests are answered. */
import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { realClock, seededRandom, silentLogger } from "#base";
import { createAuthority } from "#pki";
import { type Listener, listen } from "../../src/apiserver/http/listener.ts";
import { PREFACE } from "../../src/apiserver/http2/codes.ts";
import type { Http2Stream } from "../../src/apiserver/http2/index.ts";
import { settings } from "../../src/apiserver/http2/testing/frames.ts";
import { http2Sequences } from "./http2-targets.ts";
import { mutated } from "./mutate.ts";
import { texts } from "./target.ts";

const CONNECTIONS = 120;
const ATTACKS = {
  h2: http2Sequences.map((sequence) => Buffer.concat([PREFACE, settings(), sequence])),
  "http/1.1": texts(
    "GET /a?b=%20 HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nX-Long: aaaaaaaaaaaaaaaaaaaa\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\nT: t\r\n\r\n",
    "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nabcGET / HTTP/1.1\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n",
  ),
};

const clock = realClock();
const authority = await createAuthority({ commonName: "test", clock });
const pair = await authority.issue({ commonName: "server", dnsNames: ["localhost"], usages: ["server"] });
const handlers = {
  http1: (_: unknown, response: { end(text: string): void }) => response.end("here"),
  http2: (stream: Http2Stream) => {
    stream.respond(200, {});
    stream.end(Buffer.from("here"));
  },
  upgrade: (_: unknown, socket: { destroy(): void }) => socket.destroy(),
};
let listener: Listener;
let steady: ClientHttp2Session;

beforeAll(async () => {
  const certificate = { ...pair, clientCaPem: "" };
  listener = await listen({
    host: "127.0.0.1",
    port: 0,
    certificate,
    handlers: handlers as never,
    clock,
    log: silentLogger,
  });
  steady = connectHttp2(`https://127.0.0.1:${listener.port}`, tls());
});

afterAll(async () => {
  steady.destroy();
  await listener.close(1_000);
});

const tls = () => ({ host: "127.0.0.1", port: listener.port, ca: authority.certPem, servername: "localhost" });

async function answer(session: ClientHttp2Session): Promise<string> {
  const stream = session.request({ ":path": "/" });
  return (await Array.fromAsync(stream.setEncoding("utf8"))).join("");
}

async function attack(protocol: string, bytes: Buffer): Promise<void> {
  const raw = connectTcp({ host: "127.0.0.1", port: listener.port });
  const socket = connect({ ...tls(), socket: raw, ALPNProtocols: [protocol] });
  socket.on("error", () => {}).resume();
  await once(socket, "secureConnect");
  await new Promise<void>((sent) => socket.write(bytes, () => sent()));
  // Every other one leaves without a word.
  const closed = once(socket, "close");
  if (bytes.length % 2 === 0) socket.end();
  else raw.resetAndDestroy();
  await closed;
}

describe("after each hostile connection", () => {
  it.each(Object.entries(ATTACKS))("of %s", async (protocol, seeds) => {
    const random = seededRandom(20261118);
    for (let i = 0; i < CONNECTIONS; i++) {
      await attack(protocol, mutated(random, seeds));
      expect(await answer(steady)).toBe("here");
      if (i % 10 !== 0) continue;
      const fresh = connectHttp2(`https://127.0.0.1:${listener.port}`, tls());
      expect(await answer(fresh)).toBe("here");
      fresh.destroy();
    }
  });
});
