/** How a server stops, over loopback: what clients see in each phase. The phases end when the test's clock says so. */
import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import { afterEach, describe, expect, it } from "vitest";
import { MetricsRegistry, realClock, seededRandom, settled, silentLogger, VirtualClock } from "#base";
import { createAuthority } from "#pki";
import { openMemoryStore } from "#store";
import { startApiServer } from "./server.ts";
import type { ServingOptions } from "./server-options.ts";

const authority = await createAuthority({ commonName: "test", clock: realClock() });
const pair = await authority.issue({ commonName: "server", ipAddresses: ["127.0.0.1"], usages: ["server"] });
const admin = await authority.issue({ commonName: "admin", organizations: ["system:masters"], usages: ["client"] });

const cleanUp: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

async function start(serving: ServingOptions) {
  const clock = new VirtualClock(realClock().now());
  const store = openMemoryStore({ clock });
  const server = await startApiServer({
    host: "127.0.0.1",
    port: 0,
    certificate: { ...pair, clientCaPem: authority.certPem },
    store,
    sharedStore: false,
    serving,
    clock,
    random: seededRandom(1),
    log: silentLogger,
    metrics: new MetricsRegistry(),
  });
  cleanUp.push(() => store.close());
  const open = (): ClientHttp2Session => {
    const session = connect(`https://127.0.0.1:${server.port}`, {
      ca: authority.certPem,
      cert: admin.certPem,
      key: admin.keyPem,
    });
    session.on("error", () => {});
    cleanUp.push(() => session.destroy());
    return session;
  };
  /** Time passes only here, in small steps: what waits for the network in between has its turn. */
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 100) {
      await clock.advance(Math.min(100, left));
      await settled();
    }
  };
  return { server, open, clock, store, pass };
}

async function get(session: ClientHttp2Session, path: string) {
  const stream = session.request({ ":path": path });
  const [headers] = await once(stream, "response");
  const text = (await Array.fromAsync(stream.setEncoding("utf8"))).join("");
  return { status: headers[":status"] as number, headers, text };
}

async function watch(session: ClientHttp2Session) {
  const stream = session.request({ ":path": "/api/v1/namespaces?watch=1&resourceVersion=0" });
  await once(stream, "data");
  stream.resume();
  const state = { ended: false, end: once(stream, "end") };
  void state.end.then(
    () => {
      state.ended = true;
    },
    () => {},
  );
  return state;
}

const NAMESPACES = "/api/v1/namespaces";

describe("a server that stops", () => {
  it("is not ready during the delay, and serves everything else; then it is gone", async () => {
    const { server, open, clock, store, pass } = await start({ shutdown: { delayMs: 10_000 } });
    const session = open();
    const watched = await watch(session);
    const stopped = server.stop();
    const paths = ["/readyz", "/livez", "/healthz", NAMESPACES];
    const statuses = async () => Promise.all(paths.map(async (path) => (await get(session, path)).status));
    expect(await statuses()).toEqual([500, 200, 200, 200]);
    // New connections, too.
    expect((await get(open(), NAMESPACES)).status).toBe(200);
    await pass(9_900);
    expect([(await get(session, NAMESPACES)).status, watched.ended]).toEqual([200, false]);
    await pass(100);
    await watched.end;
    await stopped;
    await store.close();
    expect(clock.pending).toBe(0);
    await expect(once(open(), "connect")).rejects.toThrow("ECONNREFUSED");
  });

  it("sends requests elsewhere while others are finished, but not probes", async () => {
    const { server, open, pass } = await start({
      shutdown: { delayMs: 100, sendRetryAfter: true, watchGraceMs: 5_000 },
    });
    const [session, other] = [open(), open()];
    const watches = await Promise.all([watch(session), watch(session)]);
    await get(other, NAMESPACES);
    const stopped = server.stop();
    await pass(200);
    expect(watches.map(({ ended }) => ended)).toContain(false);
    const gone = once(other, "goaway");
    const { status, headers, text } = await get(other, NAMESPACES);
    expect([status, headers["retry-after"], text]).toEqual([
      429,
      "5",
      "The apiserver is shutting down, please try again later.\n",
    ]);
    expect((await gone)[0]).toBe(0);
    const third = open();
    expect((await get(third, "/livez")).status).toBe(200);
    expect((await get(third, "/readyz")).status).toBe(500);
    await pass(5_000);
    await Promise.all(watches.map(({ end }) => end));
    await stopped;
  });

  it("ends watches one after the other", async () => {
    const { server, open, pass } = await start({ shutdown: { watchGraceMs: 10_000 } });
    const session = open();
    const watches = await Promise.all(Array.from({ length: 20 }, () => watch(session)));
    const stopped = server.stop();
    const ended = () => watches.filter((each) => each.ended).length;
    await pass(5_000);
    await expect.poll(ended).toBeGreaterThanOrEqual(10);
    expect(ended()).toBeLessThan(20);
    await pass(5_000);
    await Promise.all(watches.map(({ end }) => end));
    await stopped;
  });

  it("stops once, however often it is asked to", async () => {
    const { server } = await start({});
    const [first, second] = [server.stop(), server.stop()];
    expect(first).toBe(second);
    await first;
  });
});

it("publishes its keys under the external host name", async () => {
  for (const [externalHostname, want] of [
    ["api.test", (port: number) => `https://api.test:${port}/openid/v1/jwks`],
    ["api.test:443", () => "https://api.test:443/openid/v1/jwks"],
    ["fd00::1", (port: number) => `https://[fd00::1]:${port}/openid/v1/jwks`],
  ] as const) {
    const { server, open } = await start({ externalHostname });
    const { text } = await get(open(), "/.well-known/openid-configuration");
    expect(JSON.parse(text).jwks_uri).toBe(want(server.port));
    for (const each of cleanUp.splice(1).reverse()) await each();
    await server.stop();
  }
});
