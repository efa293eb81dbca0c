/** TLSRoutes and TCPRoutes on loopback: passed through, ended here, and by the port alone. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { text } from "node:stream/consumers";
import { connect as connectTls, createSecureContext, createServer as createTlsServer } from "node:tls";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { core, discovery } from "#api";
import { realClock, seededRandom, silentLogger } from "#base";
import { type Authority, createAuthority, type KeyPair } from "#pki";
import { Backends } from "../http/backends.ts";
import { readHello } from "../http/client-hello.ts";
import { StreamServer } from "./server.ts";
import type { StreamTarget } from "./target.ts";

let authority: Authority;
let endpointPair: KeyPair;
let listenerPair: KeyPair;
let server: StreamServer;
const endpoints: Server[] = [];
const ports = new Map<string, number[]>();
const targets = new Map<string, StreamTarget>();
const clock = realClock();

beforeAll(async () => {
  authority = await createAuthority({ commonName: "test", clock });
  const issue = (name: string) => authority.issue({ commonName: name, dnsNames: [name], usages: ["server"] });
  [endpointPair, listenerPair] = await Promise.all([issue("end.example"), issue("edge.example")]);
});

beforeEach(() => {
  const service = (key: string): core.Service | undefined =>
    ports.has(key) ? { metadata: {}, spec: { ports: [{ port: 1, name: "main" }], ipFamilies: ["IPv4"] } } : undefined;
  const slices = (key: string) => (ports.get(key) ?? []).map(sliceOf);
  server = new StreamServer({
    ...{ address: "127.0.0.1", connectMs: 2000, maxConnections: 100, clock, log: silentLogger },
    backends: new Backends({ service, slices }, clock, seededRandom(1)),
    metrics: { retried: () => {} },
    find: (_, serverName) => targets.get(serverName ?? "tcp"),
    certificateOf: () => createSecureContext({ cert: listenerPair.certPem, key: listenerPair.keyPem }),
    ...{ defaultCertificate: undefined, onConnections: () => {} },
  });
});

afterEach(async () => {
  await server.stop(0);
  for (const each of endpoints.splice(0)) each.close();
  ports.clear();
  targets.clear();
});

function sliceOf(port: number): discovery.EndpointSlice {
  return {
    ...{ metadata: {}, addressType: "IPv4", ports: [{ name: "main", port, protocol: "TCP" }] },
    endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true } }],
  };
}

async function endpoint(made: Server): Promise<number> {
  endpoints.push(made);
  made.listen(0, "127.0.0.1");
  await once(made, "listening");
  return (made.address() as AddressInfo).port;
}

/** An open port of the server. */
async function listen(): Promise<number> {
  const probe = createServer();
  const port = await endpoint(probe);
  endpoints.splice(endpoints.indexOf(probe), 1);
  probe.close();
  await once(probe, "close");
  expect([...(await server.listen(new Set([port])))]).toEqual([]);
  return port;
}

const route = (name: string, backend: string | undefined, endsTls = false) =>
  targets.set(name, {
    owner: "ns/route",
    endsTls,
    backend: backend === undefined ? undefined : { service: backend, port: 1 },
  });

/** Answers once its client has sent everything. */
const upper = () =>
  createServer({ allowHalfOpen: true }, (socket) => {
    let got = "";
    socket.on("data", (data) => {
      got += String(data);
    });
    socket.once("end", () => socket.end(got.toUpperCase()));
  });

it("a TCPRoute passes bytes on in both directions, and each direction ends by itself", async () => {
  ports.set("ns/a", [await endpoint(upper())]);
  route("tcp", "ns/a");
  const socket = connect({ port: await listen(), host: "127.0.0.1", allowHalfOpen: true });
  socket.end("hello");
  expect(await text(socket)).toBe("HELLO");
});

it("a server may speak first, and an endpoint that is gone gives way to the next one", async () => {
  const gone = createServer();
  const [dead, alive] = [await endpoint(gone), await endpoint(createServer((socket) => socket.end("220 ready")))];
  gone.close();
  await once(gone, "close");
  ports.set("ns/a", [dead, alive]);
  route("tcp", "ns/a");
  const port = await listen();
  for (let at = 0; at < 4; at++) expect(await text(connect(port, "127.0.0.1"))).toBe("220 ready");
});

it("without a backend the connection is closed; with no route, too", async () => {
  route("tcp", undefined);
  const port = await listen();
  expect(await text(connect(port, "127.0.0.1"))).toBe("");
  targets.clear();
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write("no TLS");
  await once(socket, "close");
});

it("TLS is passed through: the client sees the endpoint's own certificate", async () => {
  const { certPem: cert, keyPem: key } = endpointPair;
  ports.set("ns/a", [await endpoint(createTlsServer({ cert, key }, (socket) => socket.end("from the endpoint")))]);
  route("end.example", "ns/a");
  const port = await listen();
  const socket = connectTls({ port, host: "127.0.0.1", servername: "end.example", ca: authority.certPem });
  expect(await text(socket)).toBe("from the endpoint");
});

it("TLS ends at the listener: its certificate is shown, and the endpoint gets plain bytes", async () => {
  ports.set("ns/a", [
    await endpoint(createServer((socket) => void socket.once("data", (data) => socket.end(`got ${data}`)))),
  ]);
  route("edge.example", "ns/a", true);
  const port = await listen();
  const socket = connectTls({ port, host: "127.0.0.1", servername: "edge.example", ca: authority.certPem });
  socket.write("plain");
  expect(await text(socket)).toBe("got plain");
});

it("ports come and go, and one in use says so", async () => {
  const port = await listen();
  const taken = await endpoint(createServer());
  expect((await server.listen(new Set([taken]))).get(taken)).toContain("EADDRINUSE");
  await expect(once(connect(port, "127.0.0.1"), "connect")).rejects.toThrow("ECONNREFUSED");
});

it("reads the name of a ClientHello however it arrives, and tells TLS from other protocols", async () => {
  const whole = await helloFor("name.example");
  expect(readHello(whole)).toEqual({ name: "name.example" });
  for (let end = 0; end < whole.length; end++) expect(readHello(whole.subarray(0, end))).toBe("more");
  expect(readHello(await helloFor(undefined))).toEqual({ name: "" });
  expect(readHello(Buffer.from("GET / HTTP/1.1\r\n"))).toBe("other");
  const broken = Buffer.from(whole);
  broken[43] = 255;
  expect(["other", "object"]).toContain(typeof readHello(broken) === "string" ? readHello(broken) : "object");
});

async function helloFor(servername: string | undefined): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const reader = createServer((socket) => {
    socket.once("data", (data: Buffer) => {
      resolve(data);
      socket.destroy();
    });
  });
  const port = await endpoint(reader);
  const client = connectTls({ port, host: "127.0.0.1", ...(servername !== undefined && { servername }) });
  client.on("error", () => {});
  return promise;
}
