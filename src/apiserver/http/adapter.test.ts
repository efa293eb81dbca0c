/** The whole way over TLS, with a client for each version of HTTP. */
import { once } from "node:events";
import type { IncomingHttpHeaders } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { Agent, request as httpsRequest } from "node:https";
import { connect as connectTls } from "node:tls";
import { gunzipSync } from "node:zlib";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { realClock, silentLogger } from "#base";
import { type Authority, createAuthority, type KeyPair } from "#pki";
import { configMap, type TestServer, testServer } from "../testing/index.ts";
import { httpHandlers } from "./adapter.ts";
import { type Listener, listen } from "./listener.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface Client {
  ask(method: string, path: string, body?: string, headers?: Record<string, string>): Promise<Got>;
  /** The lines of a stream, until `count` have come; then the caller leaves. */
  lines(path: string, count: number): Promise<string[]>;
  close(): Promise<void>;
}

type Connect = (port: number, ca: string, pair?: KeyPair) => Client;

const http1: Connect = (port, ca, pair) => {
  const agent = new Agent({ keepAlive: true, ca, ...(pair && { cert: pair.certPem, key: pair.keyPem }) });
  const send = (method: string, path: string, body?: string, headers: Record<string, string> = {}) => {
    const request = httpsRequest({ host: "127.0.0.1", port, method, path, headers, agent });
    request.end(body);
    return request;
  };
  return {
    async ask(method, path, body, headers) {
      const [response] = await once(send(method, path, body, headers), "response");
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
    },
    async lines(path, count) {
      const request = send("GET", path);
      request.on("error", () => {});
      const [response] = await once(request, "response");
      const lines = await firstLines(response, count);
      request.destroy();
      return lines;
    },
    close: async () => agent.destroy(),
  };
};

const http2: Connect = (port, ca, pair) => {
  const session: ClientHttp2Session = connect(`https://127.0.0.1:${port}`, {
    ca,
    ...(pair && { cert: pair.certPem, key: pair.keyPem }),
  });
  session.on("error", () => {});
  const send = (method: string, path: string, body?: string, headers: Record<string, string> = {}) => {
    const stream = session.request({ ":method": method, ":path": path, ...headers }, { endStream: body === undefined });
    if (body !== undefined) stream.end(body);
    return stream;
  };
  return {
    async ask(method, path, body, headers) {
      const stream = send(method, path, body, headers);
      const [got] = await once(stream, "response");
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      return { status: got[":status"], headers: got, body: Buffer.concat(chunks) };
    },
    async lines(path, count) {
      const stream = send("GET", path);
      stream.on("error", () => {});
      const lines = await firstLines(stream, count);
      stream.close();
      return lines;
    },
    async close() {
      if (session.destroyed) return;
      const closed = once(session, "close");
      session.destroy();
      await closed;
    },
  };
};

async function firstLines(source: AsyncIterable<Buffer>, count: number): Promise<string[]> {
  let seen = "";
  for await (const chunk of source) {
    seen += chunk;
    if (seen.split("\n").length > count) break;
  }
  return seen.split("\n").slice(0, count);
}

const clock = realClock();
let authority: Authority;
let serving: KeyPair;
beforeAll(async () => {
  authority = await createAuthority({ commonName: "ca", clock });
  serving = await authority.issue({ commonName: "server", ipAddresses: ["127.0.0.1"], usages: ["server"] });
});

describe.each([
  { version: "HTTP/1.1", open: http1 },
  { version: "HTTP/2", open: http2 },
])("over $version", ({ open }) => {
  let server: TestServer;
  let listener: Listener;
  const clients: Client[] = [];
  const client = (pair?: KeyPair) => {
    const opened = open(listener.port, authority.certPem, pair);
    clients.push(opened);
    return opened;
  };

  beforeEach(async () => {
    const tokens = new Map([["root", { name: "root", groups: ["system:masters"] }]]);
    server = await testServer({ tokens, clientCa: authority.certPem });
    listener = await listen({
      host: "127.0.0.1",
      port: 0,
      certificate: { ...serving, clientCaPem: authority.certPem },
      handlers: httpHandlers(server.handle, silentLogger),
      clock,
      log: silentLogger,
    });
  });
  afterEach(async () => {
    for (const opened of clients.splice(0)) await opened.close();
    await listener.close(0);
    await server.close();
  });

  const token = { authorization: "Bearer root" };

  it("writes and reads", async () => {
    const { ask } = client();
    const created = await ask("POST", CONFIG_MAPS, JSON.stringify(configMap("x", { a: "ü" })), token);
    expect([created.status, created.headers["content-type"], created.headers["cache-control"]]).toEqual([
      201,
      "application/json",
      "no-cache, private",
    ]);
    const read = await ask("GET", `${CONFIG_MAPS}/x`, undefined, token);
    expect(read.body.equals(created.body)).toBe(true);
    expect(Number(read.headers["content-length"])).toBe(read.body.length);
    expect((await ask("GET", `${CONFIG_MAPS}?labelSelector=a%3Db`, undefined, token)).status).toBe(200);
  });

  it("answers HEAD without a body", async () => {
    const { ask } = client();
    const { status, headers, body } = await ask("HEAD", CONFIG_MAPS, undefined, token);
    expect([status, Number(headers["content-length"]) > 0, body.length]).toEqual([200, true, 0]);
  });

  it("knows callers by their certificate", async () => {
    const admin = await authority.issue({
      commonName: "ann",
      organizations: ["system:masters"],
      usages: ["client"],
    });
    const { ask } = client(admin);
    expect((await ask("GET", CONFIG_MAPS)).status).toBe(200);
    const nobody = await client().ask("GET", CONFIG_MAPS);
    expect([nobody.status, JSON.parse(nobody.body.toString()).message]).toEqual([
      403,
      expect.stringContaining('User "system:anonymous"'),
    ]);
  });

  it("does not know certificates of other authorities", async () => {
    const other = await createAuthority({ commonName: "ca", clock });
    const stranger = await other.issue({
      commonName: "eve",
      organizations: ["system:masters"],
      usages: ["client"],
    });
    expect((await client(stranger).ask("GET", CONFIG_MAPS)).status).toBe(401);
  });

  it("refuses a body beyond the limit, and goes on", async () => {
    const { ask } = client();
    const big = await ask("POST", CONFIG_MAPS, " ".repeat(4 * 1024 * 1024), token);
    expect([big.status, JSON.parse(big.body.toString()).reason]).toEqual([413, "RequestEntityTooLarge"]);
    expect((await ask("GET", CONFIG_MAPS, undefined, token)).status).toBe(200);
  });

  it("packs what is big, for those who can unpack it", async () => {
    const { ask } = client();
    await ask("POST", CONFIG_MAPS, JSON.stringify(configMap("x", { a: "a".repeat(200_000) })), token);
    const plain = await ask("GET", CONFIG_MAPS, undefined, token);
    const packed = await ask("GET", CONFIG_MAPS, undefined, { ...token, "accept-encoding": "gzip" });
    expect([plain.headers["content-encoding"], packed.headers["content-encoding"]]).toEqual([undefined, "gzip"]);
    expect(packed.body.length).toBeLessThan(plain.body.length / 10);
    expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);
  });

  it("streams a watch, and ends it when the caller leaves", async () => {
    const admin = await authority.issue({
      commonName: "ann",
      organizations: ["system:masters"],
      usages: ["client"],
    });
    const { ask, lines } = client(admin);
    await ask("POST", CONFIG_MAPS, JSON.stringify(configMap("before")));
    const before = server.clock.pending;
    const first = lines(`${CONFIG_MAPS}?watch=1`, 2);
    await ask("POST", CONFIG_MAPS, JSON.stringify(configMap("x")));
    expect((await first).map((line) => JSON.parse(line).type)).toEqual(["ADDED", "ADDED"]);
    // Nothing of it is left on the clock.
    await expect.poll(() => server.clock.pending).toBe(before);
  });

  it("tells several warnings, also in letters that headers do not have", async () => {
    const { ask } = client();
    const { status, headers } = await ask("POST", CONFIG_MAPS, '{"metadata":{"name":"x"},"dta":{},"大小":1}', token);
    expect(status).toBe(201);
    const told = Buffer.from(String(headers.warning), "latin1").toString();
    for (const name of ["dta", "大小"]) expect(told).toContain(`unknown field \\"${name}\\"`);
  });

  const UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
  const requestText = (path: string, more = "") =>
    `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer root\r\n${more}\r\n`;
  it("closes a connection that asks for an upgrade before it has its answer, and goes on", async () => {
    const socket = connectTls({ host: "127.0.0.1", port: listener.port, ca: authority.certPem });
    socket.on("error", () => {});
    const upgrade = requestText("/api/v1/namespaces/default/pods/none/exec?command=a", UPGRADE);
    socket.resume().write(requestText(`${CONFIG_MAPS}?watch=true&timeoutSeconds=60`) + upgrade);
    await once(socket, "close");
    expect((await client().ask("GET", CONFIG_MAPS, undefined, { authorization: "Bearer root" })).status).toBe(200);
  });

  it("answers an upgrade on a connection that had an answer", async () => {
    const socket = connectTls({ host: "127.0.0.1", port: listener.port, ca: authority.certPem });
    let text = "";
    socket.setEncoding("utf8").on("data", (part) => (text += part));
    socket.write(requestText(CONFIG_MAPS));
    await once(socket, "data");
    socket.write(requestText("/api/v1/namespaces/default/pods/none/exec?command=a", UPGRADE));
    await once(socket, "close");
    expect(text).toContain("HTTP/1.1 200 OK");
    expect(text).toContain("HTTP/1.1 404 Not Found");
  });

  it("lets what is under way finish when it closes, and takes nothing new", async () => {
    const { ask } = client();
    await ask("GET", "/version", undefined, token);
    await listener.close(1_000);
    await expect(client().ask("GET", "/version")).rejects.toThrow();
  });
});
