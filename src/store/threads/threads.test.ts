import { MessageChannel } from "node:worker_threads";
import { expect, it } from "vitest";
import { realClock } from "#base";
import { openMemoryStore } from "../memory/index.ts";
import type { Store } from "../model/store.ts";
import { describeStore, WatchReader } from "../testing/index.ts";
import { openRemoteStore, StoreHost } from "./index.ts";

const hosts = new Map<Store, StoreHost>();

describeStore("a store of another thread", {
  open: async () => {
    const inner = openMemoryStore({ clock: realClock() });
    const host = new StoreHost(inner, {
      isShared: false,
      withPrevious: true,
      failed: (error) => {
        throw error;
      },
    });
    const { port1, port2 } = new MessageChannel();
    const opening = openRemoteStore(port2);
    await host.attach(port1);
    const store = await opening;
    hosts.set(store, host);
    return store;
  },
  close: async (store) => {
    await store.close();
    await hosts.get(store)?.close();
  },
  property: { numRuns: 100 },
});

it("gives a thread that does not keep up every change, once and in order", async () => {
  const inner = openMemoryStore({ clock: realClock() });
  const failed = (error: unknown) => expect.unreachable(String(error));
  const host = new StoreHost(inner, { isShared: false, maxUnreadBytes: 1_000, failed });
  const { port1, port2 } = new MessageChannel();
  const opening = openRemoteStore(port2);
  await host.attach(port1);
  const remote = await opening;
  const reader = new WatchReader(remote, "/", 0);
  const asleep = new WatchReader(remote, "/last", 0);
  const last = asleep.changes(1);
  const count = 5_000;
  for (let i = 1; i < count; i++) await inner.create(`/${i}`, Buffer.alloc(100));
  await inner.create("/last", Buffer.alloc(1));
  const changes = await reader.changes(count);
  expect(changes.map(({ revision }) => revision)).toEqual(Array.from({ length: count }, (_, i) => i + 1));
  expect((await last).map(({ key }) => key)).toEqual(["/last"]);
  expect(remote.newest()).toBe(count);
  await reader.stop();
  await asleep.stop();
  await remote.close();
  await host.close();
});

it("knows every revision that was answered or shown, without a message", async () => {
  const inner = openMemoryStore({ clock: realClock() });
  const host = new StoreHost(inner, { isShared: false, failed: () => {} });
  const { port1, port2 } = new MessageChannel();
  const opening = openRemoteStore(port2);
  await host.attach(port1);
  const remote = await opening;
  expect(remote.newest()).toBe(0);
  await host.create("/a", Buffer.from("1"));
  // No turn has passed in which a message could have come.
  expect(remote.newest()).toBe(1);
  await inner.create("/b", Buffer.from("1"));
  const reader = new WatchReader(host, "/", 0);
  await reader.changes(2);
  expect(remote.newest()).toBe(2);
  await reader.stop();
  await remote.close();
  await host.close();
});

it("fails what is under way when the store's thread goes", async () => {
  const { port1, port2 } = new MessageChannel();
  const opening = openRemoteStore(port2);
  port1.postMessage({ revision: 0, newest: new SharedArrayBuffer(8), isShared: false, hasSize: false });
  const remote = await opening;
  const [write, read] = [remote.create("/a", Buffer.from("1")), remote.get("/a")];
  port1.close();
  await expect(write).rejects.toMatchObject({ code: "Unavailable", maybeApplied: true });
  await expect(read).rejects.toMatchObject({ code: "Unavailable", maybeApplied: false });
  await expect(remote.get("/a")).rejects.toMatchObject({ code: "Closed" });
});
