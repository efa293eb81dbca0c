import { once } from "node:events";
import { createServer, request } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { silentLogger } from "#base";
import { openPullProxy, proxyEnv } from "./pull-proxy.ts";

const secret = "s3cret";
const authorization = { "proxy-authorization": `Basic ${btoa(`k8ts:${secret}`)}` };
/** The test's own servers are registries of the user's; all others are not. */
const own = new Set<number>();
const named = async () => [...own].map((port) => ({ host: "127.0.0.1", port }));
const open = (allowed = true) =>
  openPullProxy({ host: "127.0.0.1", port: 0, secret, allowed, named, log: silentLogger });

async function get(port: number, url: string, headers: Record<string, string> = authorization) {
  const sent = request({ host: "127.0.0.1", port, path: url, headers, agent: false }).end();
  const [answer] = await once(sent, "response");
  return { status: answer.statusCode, reason: answer.statusMessage, body: await text(answer) };
}

/** The first line of the proxy's answer, and the connection. */
async function tunnel(port: number, target: string, headers: Record<string, string> = authorization) {
  const socket = connect(port, "127.0.0.1").setEncoding("utf8");
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${lines.join("")}\r\n`);
  const [answer] = await once(socket, "data");
  return { line: String(answer).split("\r\n")[0], socket };
}

async function listening<T extends { listen(port: number, host: string): unknown; address(): unknown }>(server: T) {
  server.listen(0, "127.0.0.1");
  await once(server as never, "listening");
  const { port } = server.address() as AddressInfo;
  own.add(port);
  return port;
}

describe("openPullProxy", () => {
  it("passes requests on, without its secret", async () => {
    const registry = createServer((incoming, response) => {
      response.writeHead(200, { "x-seen": Object.keys(incoming.headers).join(" ") }).end(`at ${incoming.url}`);
    });
    const at = await listening(registry);
    const proxy = await open();
    expect(await get(proxy.port, `http://127.0.0.1:${at}/v2/`)).toMatchObject({ status: 200, body: "at /v2/" });
    expect(await get(proxy.port, "/v2/")).toMatchObject({ status: 400 });
    registry.close();
    await once(registry, "close");
    expect(await get(proxy.port, `http://127.0.0.1:${at}/v2/`)).toMatchObject({
      status: 502,
      reason: expect.stringContaining("ECONNREFUSED"),
    });
    await proxy.close();
  });

  it("carries a connection both ways, and ends it when it is closed", async () => {
    const echo = createTcpServer((socket) => socket.pipe(socket));
    const at = await listening(echo);
    const proxy = await open();
    const { line, socket } = await tunnel(proxy.port, `127.0.0.1:${at}`);
    expect(line).toBe("HTTP/1.1 200 Connection established");
    socket.write("hello");
    expect(await once(socket, "data")).toEqual(["hello"]);
    const ended = once(socket, "close");
    await proxy.close();
    await ended;
    echo.close();
    await once(echo, "close");
  });

  it("a registry that is not there is told of", async () => {
    const proxy = await open();
    const gone = createTcpServer();
    const at = await listening(gone);
    gone.close();
    await once(gone, "close");
    expect((await tunnel(proxy.port, `127.0.0.1:${at}`)).line).toContain("502 connect ECONNREFUSED");
    await proxy.close();
  });

  it.each([
    ["without the secret", {}, true, 407],
    ["with another", { "proxy-authorization": "Basic eDp5" }, true, 407],
    ["where pulls are off", authorization, false, 403],
  ])("nobody gets through %s", async (_name, headers, allowed, status) => {
    const proxy = await open(allowed);
    expect((await get(proxy.port, "http://127.0.0.1:1/", headers)).status).toBe(status);
    const { line } = await tunnel(proxy.port, "127.0.0.1:1", headers);
    expect(line).toContain(`HTTP/1.1 ${status} `);
    if (status === 403) expect(line).toContain("k8ts image import");
    await proxy.close();
  });

  it("nobody reaches this machine, by name or by number", async () => {
    const inside = createServer((_, response) => response.end("secret"));
    const at = await listening(inside);
    own.delete(at);
    const proxy = await open();
    for (const host of ["127.0.0.1", "localhost", "[::1]", "0.0.0.0"]) {
      for (const port of [at, 443]) {
        const { line, socket } = await tunnel(proxy.port, `${host}:${port}`);
        expect([host, line]).toEqual([host, expect.stringContaining("HTTP/1.1 403 ")]);
        socket.destroy();
      }
      for (const port of [at, 80]) {
        expect(await get(proxy.port, `http://${host}:${port}/`)).toMatchObject({ status: 403, body: "" });
      }
    }
    await proxy.close();
    inside.close();
    await once(inside, "close");
  });

  it("containerd is told where it is, and what needs no proxy", () => {
    expect(proxyEnv("10.89.7.1", 3128, "abc", ["10.100.0.0/16", "10.199.0.0/16"])).toEqual({
      HTTP_PROXY: "http://k8ts:abc@10.89.7.1:3128",
      HTTPS_PROXY: "http://k8ts:abc@10.89.7.1:3128",
      NO_PROXY: "localhost,127.0.0.0/8,10.89.7.1/24,10.100.0.0/16,10.199.0.0/16",
    });
  });
});
