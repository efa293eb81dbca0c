/** Connections through proxies of the test's own, on loopback and Unix sockets. */
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Dial, MetricsRegistry, realClock, seededRandom, VirtualClock } from "#base";
import { createAuthority } from "#pki";
import type { EgressConnection } from "./configuration.ts";
import { egress } from "./egress.ts";
import { dialMetrics } from "./metrics.ts";
import { connectProxy, konnectivityServer } from "./testing/index.ts";

const clock = realClock();
let dir: string;
let metrics: MetricsRegistry;
let measured: ReturnType<typeof dialMetrics>;
let echo: Server;
let to: { host: string; port: number };
const undo: (() => unknown)[] = [];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "k8ts-egress-"));
  metrics = new MetricsRegistry();
  measured = dialMetrics(metrics, clock);
  echo = createServer((socket) => {
    socket.on("error", () => {});
    socket.pipe(socket);
  });
  echo.listen(0, "127.0.0.1");
  await once(echo, "listening");
  to = { host: "127.0.0.1", port: (echo.address() as AddressInfo).port };
});

afterEach(async () => {
  for (const each of undo.splice(0).reverse()) await each();
  echo.close();
  await rm(dir, { recursive: true, force: true });
});

async function dialBy(connection: EgressConnection, other: Partial<Parameters<typeof egress>[0]> = {}): Promise<Dial> {
  const { cluster } = await egress({
    selections: new Map([["cluster", connection]]),
    read: (file) => readFile(file, "utf8"),
    metrics: measured,
    clock,
    random: seededRandom(1),
    ...other,
  });
  if (cluster === undefined) throw new Error("there is no dial");
  return cluster;
}

/** What comes back for the bytes, and then the end. */
async function echoed(stream: Duplex, bytes: Buffer): Promise<boolean> {
  stream.write(bytes);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length >= bytes.length) break;
  }
  return Buffer.concat(chunks).equals(bytes);
}

const large = () => Buffer.from(Array.from({ length: 700_000 }, (_, i) => i & 0xff));

async function ways() {
  const ca = await createAuthority({ commonName: "proxies", clock });
  const server = await ca.issue({ commonName: "proxy", usages: ["server"], ipAddresses: ["127.0.0.1"] });
  const client = await ca.issue({ commonName: "apiserver", usages: ["client"] });
  const file = async (name: string, text: string) => {
    await writeFile(join(dir, name), text);
    return join(dir, name);
  };
  const tls = {
    caBundle: await file("ca.crt", ca.certPem),
    clientCert: await file("client.crt", client.certPem),
    clientKey: await file("client.key", client.keyPem),
  };
  const path = join(dir, "proxy.sock");
  return {
    tcp: async () => {
      const proxy = await connectProxy();
      undo.push(() => proxy.close());
      const transport = { kind: "tcp", url: `http://127.0.0.1:${proxy.port}` } as const;
      return { proxy, connection: { protocol: "HTTPConnect", transport } } as const;
    },
    "mutual TLS": async () => {
      const proxy = await connectProxy({ tls: { cert: server.certPem, key: server.keyPem, ca: ca.certPem } });
      undo.push(() => proxy.close());
      const transport = { kind: "tcp", url: `https://127.0.0.1:${proxy.port}`, tls } as const;
      return { proxy, connection: { protocol: "HTTPConnect", transport } } as const;
    },
    "a Unix socket": async () => {
      const proxy = await connectProxy({ socket: path });
      undo.push(() => proxy.close());
      return { proxy, connection: { protocol: "HTTPConnect", transport: { kind: "uds", path } } } as const;
    },
    konnectivity: async () => {
      const proxy = await konnectivityServer(path);
      undo.push(() => proxy.close());
      return { proxy, connection: { protocol: "GRPC", transport: { kind: "uds", path } } } as const;
    },
  };
}

describe.each([
  { way: "tcp", labels: 'protocol="http_connect",transport="tcp"', refused: "403 Forbidden" },
  { way: "mutual TLS", labels: 'protocol="http_connect",transport="tcp"', refused: "403 Forbidden" },
  { way: "a Unix socket", labels: 'protocol="http_connect",transport="uds"', refused: "403 Forbidden" },
  { way: "konnectivity", labels: 'protocol="grpc",transport="uds"', refused: "no agent available" },
] as const)("through a proxy reached by $way", ({ way, labels, refused }) => {
  it("bytes pass in both directions", async () => {
    const { proxy, connection } = await (await ways())[way]();
    const dial = await dialBy(connection);
    const streams = await Promise.all([dial(to), dial(to)]);
    expect(await Promise.all(streams.map((stream) => echoed(stream, large())))).toEqual([true, true]);
    expect(proxy.asked).toEqual([`127.0.0.1:${to.port}`, `127.0.0.1:${to.port}`]);
    const text = metrics.text();
    expect(text).toContain(`apiserver_egress_dialer_dial_start_total{${labels}} 2`);
    expect(text).toContain(`apiserver_egress_dialer_dial_duration_seconds_count{${labels}} 2`);
    expect(text).not.toContain("apiserver_egress_dialer_dial_failure_count{");
  });

  it("a refusal is a failure at the stage of the proxy", async () => {
    const { proxy, connection } = await (await ways())[way]();
    proxy.refuse = refused;
    await expect((await dialBy(connection))(to)).rejects.toThrow(
      way === "konnectivity"
        ? refused
        : new RegExp(`^proxy error from .+ while dialing 127.0.0.1:${to.port}, code 403: 403 Forbidden$`),
    );
    expect(metrics.text()).toContain(`apiserver_egress_dialer_dial_failure_count{${labels},stage="proxy"} 1`);
  });

  it("the end of the other side is the end of the stream", async () => {
    const { connection } = await (await ways())[way]();
    echo.removeAllListeners("connection");
    echo.on("connection", (socket) => socket.once("data", () => socket.end("bye")));
    const stream = await (await dialBy(connection))(to);
    stream.write("hello");
    const chunks = await stream.toArray();
    expect(Buffer.concat(chunks as Buffer[]).toString()).toBe("bye");
  });
});

describe("a proxy", () => {
  it("that is not there is a failure at the stage of connecting", async () => {
    const { proxy, connection } = await (await ways()).tcp();
    await proxy.close();
    undo.pop();
    const dial = await dialBy(connection);
    await expect(dial(to)).rejects.toThrow(
      `dialing proxy "127.0.0.1:${proxy.port}" failed: dial tcp 127.0.0.1:${proxy.port}: connect: connection refused`,
    );
    const grpc = await dialBy({ protocol: "GRPC", transport: { kind: "uds", path: join(dir, "none.sock") } });
    await expect(grpc(to)).rejects.toThrow(`failed to create connection to uds name ${join(dir, "none.sock")}`);
    expect(metrics.text().match(/dial_failure_count\{.*stage="connect".*\} 1/g)).toHaveLength(2);
  });

  it("that never answers is given up after 30 s", async () => {
    const silent = createServer(() => {});
    silent.listen(join(dir, "silent.sock"));
    await once(silent, "listening");
    undo.push(() => silent.close());
    const virtual = new VirtualClock();
    const transport = { kind: "uds", path: join(dir, "silent.sock") } as const;
    const dial = await dialBy({ protocol: "HTTPConnect", transport }, { clock: virtual });
    const accepted = once(silent, "connection");
    const dialing = dial(to);
    dialing.catch(() => {});
    await accepted;
    await virtual.advance(30_000);
    await expect(dialing).rejects.toThrow("i/o timeout");
  });

  it("whose certificate is another authority's is not used", async () => {
    const { connection } = await (await ways())["mutual TLS"]();
    const other = await createAuthority({ commonName: "other", clock });
    await writeFile(join(dir, "ca.crt"), other.certPem);
    await expect((await dialBy(connection))(to)).rejects.toThrow("certificate signed by unknown authority");
  });

  it("of konnectivity is asked to close what is destroyed", async () => {
    const path = join(dir, "k.sock");
    const server = await konnectivityServer(path);
    undo.push(() => server.close());
    const stream = await (await dialBy({ protocol: "GRPC", transport: { kind: "uds", path } }))(to);
    stream.destroy();
    await expect.poll(() => server.closed).toEqual(["1"]);
  });
});

it("Direct, and what is not selected, has no dial", async () => {
  const options = { read: async () => "", metrics: measured, clock, random: seededRandom(1) };
  expect(await egress({ ...options, selections: new Map([["etcd", { protocol: "Direct" }]]) })).toEqual({});
});
