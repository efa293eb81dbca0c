/** Requests that take too long: what they are answered, and that nothing of them is stored. */
import { afterEach, describe, expect, it } from "vitest";
import { settled } from "#base";
import type { Admission } from "../rest/server-context.ts";
import { configMap, type TestServer, type TestServerOptions, testServer } from "../testing/index.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** Admission that waits until it is released. */
function heldAdmission() {
  const gate = Promise.withResolvers<void>();
  let isHeld = false;
  const admission: Admission = { mutate: async () => (isHeld ? gate.promise : undefined), validate: async () => {} };
  return {
    admission,
    hold: () => {
      isHeld = true;
    },
    release: () => gate.resolve(),
  };
}

async function start(options: TestServerOptions = {}) {
  const held = heldAdmission();
  const server = await testServer({ admission: held.admission, ...options });
  servers.push(server);
  await server.request("POST", CONFIG_MAPS, { body: configMap("old") });
  held.hold();
  return { server, ...held };
}

const body = configMap("new");
const WRITE = "Timeout: request did not complete within requested timeout - context deadline exceeded";

describe("a request that takes too long", () => {
  const writes = [
    { method: "POST", path: CONFIG_MAPS, body },
    { method: "DELETE", path: `${CONFIG_MAPS}/old`, body: undefined },
    { method: "PUT", path: `${CONFIG_MAPS}/old`, body: { ...configMap("old"), data: { changed: "yes" } } },
  ];
  it.each(writes)("$method is answered 504, and stores nothing afterwards", async ({ method, path, body }) => {
    const { server, release } = await start();
    const before = await server.store.revision();
    const answering = server.request(method, path, body === undefined ? {} : { body });
    await settled();
    await server.clock.advance(59_999);
    expect(await Promise.race([answering, settled().then(() => "waits")])).toBe("waits");
    await server.clock.advance(1);
    const { status, json } = await answering;
    expect([status, json]).toEqual([
      504,
      {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: WRITE,
        reason: "Timeout",
        details: {},
        code: 504,
      },
    ]);
    release();
    await settled();
    expect(await server.store.revision()).toBe(before);
  });

  it("reads say it in other words", async () => {
    const server = await testServer({ steps: { fairness: () => new Promise(() => {}) } });
    servers.push(server);
    const answering = server.request("GET", CONFIG_MAPS);
    await server.clock.advance(60_000);
    expect((await answering).json).toMatchObject({
      code: 504,
      message: "Timeout: request did not complete within the allotted timeout",
    });
  });

  const limits = [
    { name: "its own timeout", query: "?timeout=5s", endsMs: 5_000 },
    { name: "a timeout of 0 is none", query: "?timeout=0s", endsMs: 10_000 },
    { name: "a longer timeout than the server's", query: "?timeout=1h", endsMs: 10_000 },
    { name: "a negative timeout is none", query: "?timeout=-1s", endsMs: 10_000 },
    { name: "no timeout", query: "", endsMs: 10_000 },
  ];
  it.each(limits)("$name", async ({ query, endsMs }) => {
    const { server } = await start({ requests: { timeoutMs: 10_000 } });
    let status = 0;
    void server.request("POST", CONFIG_MAPS + query, { body }).then((answer) => {
      ({ status } = answer);
    });
    await settled();
    await server.clock.advance(endsMs - 1);
    expect(status).toBe(0);
    await server.clock.advance(1);
    expect(status).toBe(504);
  });

  it("one that ends in time is answered as ever", async () => {
    const { server, release } = await start();
    const answering = server.request("POST", CONFIG_MAPS, { body });
    await server.clock.advance(59_000);
    release();
    expect((await answering).status).toBe(201);
  });
});

describe("watches", () => {
  it.each([
    { minTimeoutSeconds: 100, query: "", from: 100_000, to: 200_000 },
    { minTimeoutSeconds: undefined, query: "", from: 1_800_000, to: 3_600_000 },
    { minTimeoutSeconds: 100, query: "&timeoutSeconds=7", from: 7_000, to: 7_001 },
    { minTimeoutSeconds: 100, query: "&timeoutSeconds=0", from: 100_000, to: 200_000 },
    // They outlive the timeout of requests, and the one in their query.
    { minTimeoutSeconds: 100, query: "&timeout=1s", from: 100_000, to: 200_000 },
  ])("end between once and twice the minimum: $minTimeoutSeconds $query", async (row) => {
    const { minTimeoutSeconds, query, from, to } = row;
    const { server } = await start({ requests: { watches: { minTimeoutSeconds } } });
    const watch = await server.watch(`${CONFIG_MAPS}?watch=1${query}`);
    await server.clock.advance(from - 1);
    expect(watch.ended).toBe(false);
    await server.clock.advance(to - from + 1);
    expect(watch.ended).toBe(true);
  });

  it("do not end without a minimum", async () => {
    const { server } = await start({ requests: { watches: { minTimeoutSeconds: 0 } } });
    const watch = await server.watch(`${CONFIG_MAPS}?watch=1`);
    await server.clock.advance(24 * 3_600_000);
    expect(watch.ended).toBe(false);
  });
});
