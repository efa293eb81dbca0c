/** Contract: what close ends, and what a durable backend keeps across it. */

import { describe, expect, it } from "vitest";
import type { Store } from "../model/store.ts";
import {
  bytes,
  failureCode,
  freshPrefix,
  inParallel,
  put,
  remove,
  type StoreHarness,
  shown,
  shownChange,
  written,
} from "./subject.ts";
import { WatchReader } from "./watch-reader.ts";

export function describeLifecycle(harness: StoreHarness): void {
  describe("close", () => {
    it("ends watches and fails later calls as Closed", async () => {
      const store = await harness.open();
      const key = `${freshPrefix()}a`;
      const revision = await put(store, key, "x");
      const waiting = new WatchReader(store, key, revision);
      const ended = failureCode(() => waiting.next());
      const unread = new WatchReader(store, key, revision - 1);
      await store.close();
      expect(await ended).toBe("Closed");
      expect(await failureCode(() => unread.next())).toBe("Closed");

      const calls: Record<string, () => Promise<unknown>> = {
        get: () => store.get(key),
        list: () => store.list(key),
        count: () => store.count(key),
        create: () => store.create(`${key}2`, bytes("x")),
        update: () => store.update(key, bytes("y"), revision),
        delete: () => store.delete(key, revision),
        revision: () => store.revision(),
        compact: () => store.compact(revision),
        watch: async () => new WatchReader(store, key, revision).next(),
      };
      for (const [name, call] of Object.entries(calls)) {
        expect([name, await failureCode(call)]).toEqual([name, "Closed"]);
      }
      await store.close();
      await harness.close(store);
    });

    it("answers every write under way, as done or as Closed", async () => {
      const store = await harness.open();
      const prefix = freshPrefix();
      const writes = Array.from({ length: 50 }, (_, i) => store.create(`${prefix}${i}`, bytes("x")));
      const settled = Promise.allSettled(writes);
      await store.close();
      for (const result of await settled) {
        if (result.status === "fulfilled") expect(result.value.ok).toBe(true);
        else expect(result.reason).toMatchObject({ name: "StoreError", code: "Closed" });
      }
      await harness.close(store);
    });
  });

  const { reopen } = harness;
  if (reopen !== undefined) describeReopening(harness, reopen.bind(harness));
}

function describeReopening(harness: StoreHarness, reopen: (store: Store) => Promise<Store>): void {
  describe("reopening", () => {
    it("keeps entries, revisions and history, and continues them", async () => {
      let store = await harness.open();
      const prefix = freshPrefix();
      const start = await store.revision();
      await put(store, `${prefix}a`, "1");
      await put(store, `${prefix}b`, "1");
      await put(store, `${prefix}a`, "2");
      await remove(store, `${prefix}b`);
      await put(store, `${prefix}c`, "");
      const states = await everyState(store, prefix, start);
      const before = new WatchReader(store, prefix, start);
      const changes = (await before.changes(5)).map(shownChange);
      await before.stop();

      for (let round = 0; round < 2; round++) {
        store = await reopen(store);
        expect(await store.revision()).toBe(start + 5);
        expect(await everyState(store, prefix, start)).toEqual(states);
        const replay = new WatchReader(store, prefix, start);
        expect((await replay.changes(5)).map(shownChange)).toEqual(changes);
        await replay.stop();
      }

      expect(await store.create(`${prefix}b`, bytes("3"))).toEqual({ ok: true, revision: start + 6 });
      store = await reopen(store);
      const wanted = { key: `${prefix}b`, text: "3", createRevision: start + 6, revision: start + 6 };
      expect(shown(await store.get(`${prefix}b`))).toEqual(wanted);
      await harness.close(store);
    });

    it("remembers what was compacted", async () => {
      let store = await harness.open();
      const key = `${freshPrefix()}a`;
      const first = await put(store, key, "1");
      const second = await put(store, key, "2");
      const third = await put(store, key, "3");
      await store.compact(second);
      store = await reopen(store);
      expect(await failureCode(() => store.list(key, { revision: first }))).toBe("Compacted");
      expect(await failureCode(() => new WatchReader(store, key, first).next())).toBe("Compacted");
      expect((await store.list(key, { revision: second })).entries[0]?.value.toString()).toBe("2");
      const reader = new WatchReader(store, key, second);
      expect((await reader.changes(1)).map((change) => change.revision)).toEqual([third]);
      await reader.stop();
      await harness.close(store);
    });

    it("keeps every write that was acknowledged before close", async () => {
      let store = await harness.open();
      const prefix = freshPrefix();
      const acknowledged: { key: string; revision: number }[] = [];
      await inParallel(500, 50, async (i) => {
        const key = `${prefix}${i}`;
        acknowledged.push({ key, revision: written(await store.create(key, bytes(`${i}`))) });
      });
      store = await reopen(store);
      for (const { key, revision } of acknowledged) expect((await store.get(key))?.revision).toBe(revision);
      await harness.close(store);
    });
  });
}

async function everyState(store: Store, prefix: string, start: number) {
  const states = [];
  for (let revision = start; revision <= (await store.revision()); revision++) {
    states.push((await store.list(prefix, { revision })).entries.map(shown));
  }
  return states;
}
