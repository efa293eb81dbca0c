import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";
import { connect } from "node:tls";
import { describe, expect, it } from "vitest";
import { realClock, silentLogger } from "#base";
import { createAuthority } from "#pki";
import type { Http2Stream } from "../http2/index.ts";
import { listen } from "./listener.ts";

const clock = realClock();
const authority = await createAuthority({ commonName: "test", clock });
const names = { dnsNames: ["localhost"], ipAddresses: ["127.0.0.1", "127.0.0.2"] };
const pair = await authority.issue({ commonName: "server", ...names, usages: ["server"] });
const certificate = { ...pair, clientCaPem: "" };
/** Responses to `/late`, which a test ends. */
const late: { end(text: string): void }[] = [];
const handlers = {
  http1: ({ url }: { readonly url: string }, response: { end(text: string): void; write(text: string): void }) => {
    if (url !== "/late") return response.end("here");
    response.write("begun");
    late.push(response);
  },
  /** Each is answered by its first byte, and goes on. */
  http2: (stream: Http2Stream) => {
    stream.respond(200, {});
    stream.write(Buffer.from("."));
  },
  upgrade: () => {},
};

function open(options: { host: string; port: number; alsoAt?: readonly string[]; idleMs?: number }) {
  return listen({ ...options, certificate, handlers: handlers as never, clock, log: silentLogger });
}

async function ask(host: string, port: number): Promise<string> {
  const socket = connect({ host, port, ca: authority.certPem, servername: "localhost" });
  await once(socket, "secureConnect");
  socket.end("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  return (await Array.fromAsync(socket.setEncoding("utf8"))).join("");
}

describe("listen", () => {
  it("answers at every address, on the same port and with the same certificate", async () => {
    const listener = await open({ host: "127.0.0.1", port: 0, alsoAt: ["127.0.0.2"] });
    expect(await ask("127.0.0.1", listener.port)).toContain("here");
    expect(await ask("127.0.0.2", listener.port)).toContain("here");
    await listener.close(1_000);
    await expect(ask("127.0.0.1", listener.port)).rejects.toThrow("ECONNREFUSED");
    await expect(ask("127.0.0.2", listener.port)).rejects.toThrow("ECONNREFUSED");
  });

  it.each([
    { name: "a malformed head", head: "GET / HTTP/1.1\r\nno field\r\n\r\n", want: "400 Bad Request" },
    {
      name: "a head that is too large, whose client sends on and on",
      head: `GET / HTTP/1.1\r\nHost: localhost\r\nX-Large: ${"x".repeat(8 * 1024 * 1024)}`,
      want: "431 Request Header Fields Too Large",
    },
  ])("answers $name before it closes the connection", async ({ head, want }) => {
    const listener = await open({ host: "127.0.0.1", port: 0 });
    const socket = connect({ host: "127.0.0.1", port: listener.port, ca: authority.certPem, servername: "localhost" });
    await once(socket, "secureConnect");
    socket.write(head);
    const answer = (await Array.fromAsync(socket.setEncoding("utf8"))).join("");
    expect(answer).toMatch(`HTTP/1.1 ${want}\r\n`);
    expect(answer.endsWith(`\r\n\r\n${want}`)).toBe(true);
    socket.destroy();
    await listener.close(0);
  });

  it("an address that cannot be had leaves none open", async () => {
    const taken = await open({ host: "127.0.0.2", port: 0 });
    await expect(open({ host: "127.0.0.1", port: taken.port, alsoAt: ["127.0.0.2"] })).rejects.toThrow("EADDRINUSE");
    const again = await open({ host: "127.0.0.1", port: taken.port });
    await Promise.all([taken.close(0), again.close(0)]);
  });

  it("reports TLS handshakes that fail", async () => {
    const failed = Promise.withResolvers<void>();
    const onHandshakeError = () => failed.resolve();
    const listener = await listen({
      ...{ host: "127.0.0.1", port: 0, certificate, clock, log: silentLogger, onHandshakeError },
      handlers: handlers as never,
    });
    const socket = connectTcp({ host: "127.0.0.1", port: listener.port });
    socket.write("GET / HTTP/1.1\r\n\r\n");
    await failed.promise;
    socket.destroy();
    expect(await ask("127.0.0.1", listener.port)).toContain("here");
    await listener.close(1_000);
  });

  it("keeps those of HTTP/1.1 for as long as clients do", async () => {
    const listener = await open({ host: "127.0.0.1", port: 0 });
    const tls = { port: listener.port, host: "127.0.0.1", ca: authority.certPem, servername: "localhost" };
    const socket = connect(tls).setEncoding("utf8");
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let said = "";
    while (!said.includes("\r\n\r\n")) said += (await once(socket, "data"))[0];
    expect(said).toContain("Keep-Alive: timeout=90\r\n");
    socket.destroy();
    await listener.close(1_000);
  });

  it("closes connections of HTTP/1.1 and HTTP/2 that nobody uses, and no other", async () => {
    const listener = await open({ host: "127.0.0.1", port: 0, idleMs: 300 });
    const tls = { port: listener.port, host: "127.0.0.1", ca: authority.certPem, servername: "localhost" };
    const kept = connect(tls).resume();
    const closed = once(kept, "close");
    kept.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const busy = connectHttp2(`https://127.0.0.1:${listener.port}`, tls);
    const watch = busy.request({ ":path": "/" });
    await once(watch, "data");
    const idle = connectHttp2(`https://127.0.0.1:${listener.port}`, tls);
    const [code] = await once(idle, "goaway");
    expect(code).toBe(0);
    await closed;
    expect([busy.destroyed, watch.destroyed]).toEqual([false, false]);
    busy.destroy();
    await listener.close(1_000);
  });

  it("closes when the last request of HTTP/1.1 is answered, though its client keeps the connection", async () => {
    const listener = await open({ host: "127.0.0.1", port: 0 });
    const tls = { port: listener.port, host: "127.0.0.1", ca: authority.certPem, servername: "localhost" };
    const socket = connect(tls).setEncoding("utf8");
    const end = once(socket, "close");
    socket.write("GET /late HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let received = "";
    while (!received.includes("begun")) received += (await once(socket, "data"))[0];
    socket.on("data", (text) => {
      received += text;
    });
    // The test would time out long before.
    const closed = listener.close(3_600_000);
    late.pop()?.end("ended");
    await Promise.all([closed, end]);
    expect(received).toContain("ended");
  });
});
