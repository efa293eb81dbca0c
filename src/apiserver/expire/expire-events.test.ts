import { describe, expect, it } from "vitest";
import { type Clock, VirtualClock } from "#base";
import { openMemoryStore } from "#store";
import { type TestServer, testServer } from "../bootstrap/testing/server.ts";
import { serverRequest } from "../loopback/server-request.ts";
import type { AnyDraft } from "../rest/draft.ts";
import { change } from "../rest/write/change.ts";
import { expireEvents } from "./expire-events.ts";

const HOUR = 60 * 60_000;
const MINUTE = 60_000;

function event(server: TestServer, name: string): Promise<unknown> {
  const involvedObject = { kind: "Pod", namespace: "default", name: "p", apiVersion: "v1" };
  const rest = { reason: "Started", message: "", type: "Normal", count: 1, source: { component: "test" } };
  return server.create("", "events", { metadata: { name, namespace: "default" }, involvedObject, ...rest });
}

async function countAgain(server: TestServer, name: string): Promise<void> {
  await change(serverRequest(server.context, server.resource("", "events"), { name, namespace: "default" }), {
    dryRun: false,
    propose: (current) => ({ draft: { ...structuredClone(current), count: 2 } as unknown as AnyDraft }),
  });
}

const names = (server: TestServer) => server.all("", "events").map(({ metadata }) => metadata.name);

/** Runs the part on the servers while `work` is done. */
async function expiring(servers: readonly TestServer[], work: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const running = servers.map(({ context, resources }) => expireEvents({ context, resources }, stop.signal));
  try {
    await work();
  } finally {
    stop.abort();
    await Promise.all(running);
  }
}

describe("events", () => {
  it("end an hour after they were last written", async () => {
    const clock = new VirtualClock();
    await using server = await testServer({ clock });
    await expiring([server], async () => {
      await event(server, "a");
      await event(server, "b");
      await clock.advance(40 * MINUTE);
      await countAgain(server, "b");
      await event(server, "c");
      expect(names(server)).toEqual(["a", "b", "c"]);
      await clock.advance(22 * MINUTE);
      expect(names(server)).toEqual(["b", "c"]);
      await clock.advance(40 * MINUTE);
      expect(names(server)).toEqual([]);
    });
  });

  it("that a server finds at its start end by the times that they tell", async () => {
    const clock = new VirtualClock();
    const store = openMemoryStore({ clock });
    const first = await testServer({ clock, store });
    await event(first, "a");
    await clock.advance(50 * MINUTE);
    await event(first, "b");
    await first[Symbol.asyncDispose]();

    const second = await testServer({ clock, store });
    await expiring([second], async () => {
      await clock.advance(12 * MINUTE);
      expect(names(second)).toEqual(["b"]);
      await clock.advance(HOUR);
      expect(names(second)).toEqual([]);
    });
    await second[Symbol.asyncDispose]();
    await store.close();
  });

  it("are deleted once by several servers, many at a time", async () => {
    const clock: Clock & VirtualClock = new VirtualClock();
    const store = openMemoryStore({ clock });
    const servers = [await testServer({ clock, store }), await testServer({ clock, store })];
    const [one, other] = servers;
    if (one === undefined || other === undefined) throw new Error("two servers");
    await expiring(servers, async () => {
      for (let i = 0; i < 1_200; i++) await event(i % 2 === 0 ? one : other, `e${i}`);
      const before = await store.revision();
      await clock.advance(HOUR + 2 * MINUTE);
      expect([names(one), names(other)]).toEqual([[], []]);
      expect((await store.revision()) - before).toBe(1_200);
    });
    for (const server of servers) await server[Symbol.asyncDispose]();
    await store.close();
  });
});
