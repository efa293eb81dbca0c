import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createSecureServer } from "node:http2";
import { createServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { childController, realClock } from "#base";
import { ConfigMap } from "../../api/core/config-map.ts";
import { Client, https } from "../index.ts";
import { startTestApiServer, type TestApiServer } from "../testing/api-server.ts";

const clock = realClock();
let api: TestApiServer;

beforeAll(async () => {
  api = await startTestApiServer();
});
afterAll(() => api.stop());

describe("https", () => {
  it("goes on with a new session after the server was restarted; watches end", async () => {
    const client = new Client({ transport: https(api.connection, { clock }), clock });
    const configMaps = client.of(ConfigMap).in("default");
    await configMaps.create({ metadata: { name: "before" } });
    const watching = (async () => {
      const types: string[] = [];
      for await (const event of configMaps.watch()) types.push(event.type);
      return types;
    })();
    await configMaps.list();
    await api.restart();
    // The server's last words: from where to go on.
    expect((await watching).at(-1)).toBe("BOOKMARK");
    expect((await configMaps.get("before")).metadata.name).toBe("before");
    await client.close();
  });

  it("many calls share one session", async () => {
    const client = new Client({ transport: https(api.connection, { clock }), clock });
    const calls = Array.from({ length: 50 }, (_, i) =>
      client
        .of(ConfigMap)
        .in("default")
        .create({ metadata: { name: `many-${i}` } }),
    );
    expect(await Promise.all(calls)).toHaveLength(50);
    await client.close();
  });

  it("a server that cannot be reached is ServiceUnavailable", async () => {
    const closed = createTcpServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, "close");
    const client = new Client({ transport: https({ server: `https://127.0.0.1:${port}` }, { clock }), clock });
    await expect(client.text("/readyz")).rejects.toMatchObject({ reason: "ServiceUnavailable" });
    await client.close();
  });

  it("does not trust a server whose authority it does not know", async () => {
    const { server } = api.connection;
    const client = new Client({ transport: https({ server }, { clock }), clock });
    await expect(client.text("/readyz")).rejects.toMatchObject({ reason: "ServiceUnavailable" });
    await client.close();
    const careless = new Client({ transport: https({ server, insecureSkipTlsVerify: true }, { clock }), clock });
    expect(await careless.text("/readyz")).toBe("ok");
    await careless.close();
  });

  it("a closed client refuses calls and ends watches", async () => {
    const client = new Client({ transport: https(api.connection, { clock }), clock });
    const opened = Promise.withResolvers<void>();
    const watching = (async () => {
      for await (const _ of client.of(ConfigMap).watch()) opened.resolve();
    })();
    const ended = expect(watching).rejects.toMatchObject({ reason: "ServiceUnavailable" });
    await opened.promise;
    await client.close();
    await ended;
    await expect(client.text("/readyz")).rejects.toThrow("closed");
  });
});

describe("https with a server that is cut off", () => {
  it.each([
    { name: "HTTP/2", alpn: true },
    { name: "HTTP/1.1", alpn: false },
  ])("half an answer is no answer: $name", async ({ alpn }) => {
    const { certPem = "", keyPem = "" } = api.connection;
    const tls = { cert: certPem, key: keyPem, allowHTTP1: true };
    const server = alpn ? createSecureServer(tls) : createServer(tls);
    const sockets: Socket[] = [];
    server.on("connection", (socket: Socket) => sockets.push(socket));
    server.on("request", (_, response: ServerResponse) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"kind":');
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const transport = https({ server: `https://127.0.0.1:${port}`, insecureSkipTlsVerify: true }, { clock });
    const { body } = await transport.send({ method: "GET", target: "/", headers: {}, ending: childController() });
    const chunks: string[] = [];
    const reading = (async () => {
      for await (const chunk of body) {
        chunks.push(Buffer.from(chunk as Uint8Array).toString());
        for (const socket of sockets) socket.destroy();
      }
    })();
    await expect(reading).rejects.toMatchObject({ reason: "ServiceUnavailable" });
    expect(chunks).toEqual(['{"kind":']);
    await transport.close();
    server.close();
    await once(server, "close");
  });
});

describe("https with a server that speaks HTTP/1.1 only", () => {
  it("falls back, and keeps to it", async () => {
    const { connection } = api;
    const tls = { cert: connection.certPem, key: connection.keyPem };
    const seen: string[] = [];
    const server = createServer(tls, (request, response) => {
      seen.push(`${request.httpVersion} ${request.method} ${request.url}`);
      request.resume().on("end", () => response.end("ok"));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const client = new Client({
      transport: https({ server: `https://127.0.0.1:${port}`, insecureSkipTlsVerify: true }, { clock }),
      clock,
    });
    expect(await client.text("/one")).toBe("ok");
    expect(await client.text("/two")).toBe("ok");
    expect(seen).toEqual(["1.1 GET /one", "1.1 GET /two"]);
    await client.close();
    server.close();
    await once(server, "close");
  });
});
