/** HTTP/2 from clients and to endpoints, without TLS and with it, as gRPC uses it; on real sockets of loopback. */
import { once } from "node:events";
import { get } from "node:http";
import { type ClientHttp2Stream, connect, constants, createServer, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, connect as connectTcp } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { realClock } from "#base";
import { createAuthority } from "#pki";
import { isPreface } from "./first-bytes.ts";
import { ingressOf, Site } from "./testing/site.ts";

const H2C = "kubernetes.io/h2c";
let site: Site;
const closing: (() => void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) close();
  await site[Symbol.asyncDispose]();
});

/** An endpoint that speaks HTTP/2 only. */
async function endpoint(
  answer: (stream: ServerHttp2Stream, headers: Record<string, unknown>) => void,
): Promise<{ port: number; sessions: () => number }> {
  const server = createServer();
  let count = 0;
  server.on("session", (session) => {
    count++;
    closing.push(() => session.destroy());
  });
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    answer(stream as ServerHttp2Stream, headers);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(() => server.close());
  return { port: (server.address() as AddressInfo).port, sessions: () => count };
}

interface Told {
  readonly head: Record<string, unknown>;
  readonly endedWithHead: boolean;
  readonly body: string;
  readonly trailers: Record<string, unknown>;
}

async function told(stream: ClientHttp2Stream): Promise<Told> {
  const trailers: Record<string, unknown> = {};
  stream.on("trailers", (received) => Object.assign(trailers, received));
  const [head, flags] = (await once(stream, "response")) as [Record<string, unknown>, number];
  const body = await text(stream);
  return { head, endedWithHead: (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0, body, trailers };
}

async function start(backend: number, options: { h2c?: boolean } = {}) {
  const authority = await createAuthority({ commonName: "test", clock: realClock() });
  const certificate = await authority.issue({ commonName: "a.org", dnsNames: ["a.org"], usages: ["server"] });
  site = new Site({ certificate, bodyIdleMs: 300 });
  const ports = await site.start();
  if (options.h2c !== false) site.speak("a", H2C);
  site.put("a", backend);
  site.route(ingressOf("i", ["a.org", "/", "a"]));
  const client = (url: string) => {
    const session = connect(url, { ca: authority.certPem, servername: "a.org" });
    closing.push(() => session.destroy());
    return (headers: Record<string, string>) => session.request({ ":authority": "a.org", ...headers });
  };
  return { plain: client(`http://127.0.0.1:${ports.http}`), secure: client(`https://127.0.0.1:${ports.https}`), ports };
}

const CALL = { ":method": "POST", ":path": "/shop.Cart/Add", "content-type": "application/grpc", te: "trailers" };

describe("gRPC", () => {
  it.each(["plain", "secure"] as const)("messages in both directions, and the status in trailers: %s", async (how) => {
    const seen: Record<string, unknown>[] = [];
    const { port, sessions } = await endpoint((stream, headers) => {
      seen.push(headers);
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0", "grpc-message": "done" }));
      stream.pipe(stream);
    });
    const { [how]: call } = await start(port);
    const calls = await Promise.all(
      [1, 2, 3].map(async (number) => {
        const stream = call(CALL);
        stream.end(`message ${number}`);
        return told(stream);
      }),
    );
    expect(calls.map(({ body }) => body)).toEqual(["message 1", "message 2", "message 3"]);
    for (const { head, trailers } of calls) {
      expect(head).toMatchObject({ ":status": 200, "content-type": "application/grpc" });
      expect(trailers).toMatchObject({ "grpc-status": "0", "grpc-message": "done" });
    }
    expect(seen[0]).toMatchObject({ ":path": "/shop.Cart/Add", ":authority": "a.org", te: "trailers" });
    expect(sessions()).toBe(1);
  });

  it("a status without messages is in the head, which ends the stream", async () => {
    const { port } = await endpoint((stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc", "grpc-status": "12" }, { endStream: true });
    });
    const { plain } = await start(port);
    const stream = plain(CALL);
    stream.end("x");
    expect(await told(stream)).toMatchObject({ endedWithHead: true, body: "", head: { "grpc-status": "12" } });
  });

  it("a stream that is silent for long stays open, and answers come while it is sent", async () => {
    const { port } = await endpoint((stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      stream.pipe(stream);
    });
    const { plain } = await start(port);
    const stream = plain(CALL);
    stream.write("one");
    await once(stream, "response");
    expect(String((await once(stream, "data"))[0])).toBe("one");
    // Longer than a body of another kind may be without progress.
    await realClock().sleep(700);
    stream.end("two");
    expect(await text(stream)).toBe("two");
  });

  it("what the client gives up, the endpoint hears of", async () => {
    const heard = Promise.withResolvers<number | undefined>();
    const { port } = await endpoint((stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      stream.once("close", () => heard.resolve(stream.rstCode));
    });
    const { plain } = await start(port);
    const stream = plain(CALL);
    stream.on("error", () => {});
    await once(stream, "response");
    stream.close(constants.NGHTTP2_CANCEL);
    expect(await heard.promise).toBe(constants.NGHTTP2_CANCEL);
  });
});

describe("HTTP/2 without TLS", () => {
  it("is spoken to endpoints of clients of HTTP/1.1, too", async () => {
    const { port } = await endpoint((stream, headers) => {
      stream.respond({ ":status": 201, "x-method": String(headers[":method"]) });
      stream.end("hello");
    });
    const { ports } = await start(port);
    const [answer] = await once(get({ port: ports.http, host: "127.0.0.1", headers: { host: "a.org" } }), "response");
    expect([answer.statusCode, answer.headers["x-method"], await text(answer)]).toEqual([201, "GET", "hello"]);
  });

  it("clients of it reach endpoints of HTTP/1.1", async () => {
    const { plain } = await start(0);
    site.put("b", await site.endpoint((asked, answer) => void asked.pipe(answer)));
    site.route(ingressOf("i", ["a.org", "/", "b"]));
    const stream = plain({ ":method": "POST", ":path": "/" });
    stream.end("hello");
    expect((await told(stream)).body).toBe("hello");
  });

  it("an endpoint that cannot be reached is no answer", async () => {
    const { plain } = await start(1);
    expect((await told(plain({ ":path": "/" }))).head[":status"]).toBe(503);
  });

  it("its first bytes may come one by one, as those of HTTP/1.1", async () => {
    const { ports } = await start(0, { h2c: false });
    site.put("b", await site.endpoint((_, answer) => answer.end("hello")));
    site.route(ingressOf("i", ["a.org", "/", "b"]));
    const socket = connectTcp(ports.http, "127.0.0.1").setNoDelay(true);
    await once(socket, "connect");
    for (const letter of "PUT / HTTP/1.1\r\nhost: a.org\r\nconnection: close\r\n\r\n") {
      await new Promise((done) => socket.write(letter, done));
    }
    expect(await text(socket)).toContain("hello");
  });

  it.each([
    ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", true],
    ["PRI * HT", undefined],
    ["P", undefined],
    ["PUT /", false],
    ["GET", false],
  ])("%j", (first, want) => expect(isPreface(Buffer.from(first))).toBe(want));
});
