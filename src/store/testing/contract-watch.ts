/** Contract: a watch delivers every change after its start, in order, each exactly once, or ends with an error. */

import { describe, expect, it } from "vitest";
import { isStoreError } from "../model/errors.ts";
import type { Store } from "../model/store.ts";
import { bytes, freshPrefix, inParallel, put, remove, type Subject, shownChange, written } from "./subject.ts";
import { WatchReader } from "./watch-reader.ts";

export function describeWatch(subject: Subject): void {
  describe("watch", () => {
    it("delivers creations, updates and deletions with what was there before", async () => {
      const store = subject();
      const key = `${freshPrefix()}a`;
      const reader = new WatchReader(store, key, await store.revision());
      const first = await put(store, key, "1");
      const second = await put(store, key, "2");
      const third = await remove(store, key);
      const fourth = await put(store, key, "3");

      const one = { key, text: "1", createRevision: first, revision: first };
      const two = { key, text: "2", createRevision: first, revision: second };
      const three = { key, text: "3", createRevision: fourth, revision: fourth };
      expect((await reader.changes(4)).map(shownChange)).toEqual([
        { key, revision: first, entry: one, previous: undefined },
        { key, revision: second, entry: two, previous: one },
        { key, revision: third, entry: undefined, previous: two },
        { key, revision: fourth, entry: three, previous: undefined },
      ]);
      await reader.stop();
    });

    it("replays from a past revision, then goes on", async () => {
      const store = subject();
      const prefix = freshPrefix();
      const revisions: number[] = [];
      for (const name of ["a", "b", "c", "a", "b"]) revisions.push(await put(store, prefix + name, "x"));
      const after = revisions[1] ?? 0;
      const reader = new WatchReader(store, prefix, after);
      await reader.changes(3);
      revisions.push(await remove(store, `${prefix}c`));
      const changes = await reader.changes(4);
      expect(changes.map((change) => change.revision)).toEqual(revisions.slice(2));
      expect(changes.map((change) => change.previous?.revision)).toEqual([
        undefined,
        revisions[0],
        revisions[1],
        revisions[2],
      ]);
      await reader.stop();
    });

    it("delivers only what concerns its prefix", async () => {
      const store = subject();
      const root = freshPrefix();
      const prefixes = ["a", "a/", "a/x", "ab", ""];
      const after = await store.revision();
      const readers = prefixes.map((prefix) => new WatchReader(store, root + prefix, after));
      for (const name of ["a", "a.", "a/", "a/x", "a/y", "ab", "b", "a/x"]) await put(store, root + name, "x");
      const head = await store.revision();
      const seen = await Promise.all(
        readers.map(async (reader) => (await reader.catchUp(head)).map((change) => change.key.slice(root.length))),
      );
      expect(Object.fromEntries(prefixes.map((prefix, i) => [prefix, seen[i]]))).toEqual({
        a: ["a", "a.", "a/", "a/x", "a/y", "ab", "a/x"],
        "a/": ["a/", "a/x", "a/y", "a/x"],
        "a/x": ["a/x", "a/x"],
        ab: ["ab"],
        "": ["a", "a.", "a/", "a/x", "a/y", "ab", "b", "a/x"],
      });
      await Promise.all(readers.map((reader) => reader.stop()));
    });

    it("shows each change exactly once to watches that start amid concurrent writes", async () => {
      const store = subject();
      const prefix = freshPrefix();
      const start = await store.revision();
      const readers: WatchReader[] = [];
      const total = 600;
      await inParallel(total, 30, async (i) => {
        if (i % 60 === 0) readers.push(new WatchReader(store, prefix, await store.revision()));
        const key = `${prefix}${i % 100}`;
        for (;;) {
          const current = await store.get(key);
          const value = bytes(`${i}`);
          const outcome =
            current === undefined
              ? await store.create(key, value)
              : i % 3 === 0
                ? await store.delete(key, current.revision)
                : await store.update(key, value, current.revision);
          if (outcome.ok) return;
        }
      });
      const replay = new WatchReader(store, prefix, start);
      const all = (await replay.changes(total)).map(shownChange);
      await replay.stop();
      expect(all.map((change) => change.revision)).toEqual(Array.from({ length: total }, (_, i) => start + 1 + i));
      const last = new Map<string, unknown>();
      for (const change of all) {
        expect(change.previous).toEqual(last.get(change.key));
        expect(change.entry?.revision ?? change.revision).toBe(change.revision);
        last.set(change.key, change.entry);
      }
      for (const reader of readers) {
        const from = reader.revision;
        const seen = await reader.through(start + total).then((changes) => changes.map(shownChange));
        expect(seen).toEqual(all.filter((change) => change.revision > from));
        await reader.stop();
      }
    });

    it("waits for changes after a start that is yet to come", async () => {
      const store = subject();
      const key = `${freshPrefix()}a`;
      const head = await store.revision();
      const early = new WatchReader(store, key, head + 2);
      const waiting = early.changes(1);
      for (const text of ["1", "2", "3"]) await put(store, key, text);
      const late = new WatchReader(store, key, head + 2);
      for (const changes of [await waiting, await late.changes(1)]) {
        expect(changes.map((change) => change.entry?.value.toString())).toEqual(["3"]);
      }
      await Promise.all([early.stop(), late.stop()]);
    });

    it("reports progress when asked, also if nothing of its own has changed", async () => {
      const store = subject();
      const watched = freshPrefix();
      const other = freshPrefix();
      const reader = new WatchReader(store, watched, await store.revision());
      await put(store, `${other}a`, "x");
      const head = await store.revision();
      reader.watch.requestProgress();
      expect(await reader.through(head)).toEqual([]);

      // And again, on the same watch, with changes of its own before and after the one of others.
      await put(store, `${watched}a`, "1");
      await put(store, `${other}a`, "y");
      expect(await reader.catchUp(await store.revision())).toHaveLength(1);
      await reader.stop();
    });

    it("reports progress at a revision already reached", async () => {
      const store = subject();
      const head = await store.revision();
      const reader = new WatchReader(store, freshPrefix(), head);
      const batch = reader.next();
      reader.watch.requestProgress();
      expect((await batch)?.changes).toEqual([]);
      expect(reader.revision).toBeGreaterThanOrEqual(head);
      await reader.stop();
    });

    it("reports progress while other prefixes are being written", async () => {
      const store = subject();
      const watched = freshPrefix();
      const other = freshPrefix();
      const reader = new WatchReader(store, watched, await store.revision());
      let writing = true;
      const writer = (async () => {
        for (let i = 0; writing; i++) await put(store, `${other}${i % 10}`, `${i}`);
      })();
      for (let round = 1; round <= 5; round++) {
        await put(store, `${watched}a`, `${round}`);
        expect(await reader.catchUp(await store.revision())).toHaveLength(round);
      }
      writing = false;
      await writer;
      await reader.stop();
    });

    it("ends promptly, without an error, when its signal aborts", async () => {
      const store = subject();
      const prefix = freshPrefix();
      const waiting = new WatchReader(store, prefix, await store.revision());
      const pending = waiting.next();
      waiting.abort();
      expect(await pending).toBeUndefined();
      expect(await waiting.next()).toBeUndefined();
      waiting.watch.requestProgress();

      const before = new WatchReader(store, prefix, await store.revision());
      before.abort();
      await put(store, `${prefix}a`, "x");
      expect(await before.next()).toBeUndefined();
    });

    it("ends when its reader leaves the loop", async () => {
      const store = subject();
      const key = `${freshPrefix()}a`;
      const after = await store.revision();
      await put(store, key, "x");
      const { signal } = new AbortController();
      let batches = 0;
      for await (const batch of store.watch(key, { after, signal })) {
        if (batch.changes.length === 0) continue;
        batches++;
        break;
      }
      expect(batches).toBe(1);
      await put(store, key, "y");
    });

    it("serves many watches, each with what concerns it", async () => {
      const store = subject();
      const root = freshPrefix();
      const after = await store.revision();
      const readers = Array.from({ length: 200 }, (_, i) => new WatchReader(store, `${root}${i % 100}/`, after));
      await inParallel(100, 20, async (i) => {
        written(await store.create(`${root}${i}/a`, bytes("1")));
        written(await store.create(`${root}${i}/b`, bytes("2")));
      });
      for (const [i, reader] of readers.entries()) {
        const keys = (await reader.changes(2)).map((change) => change.key);
        expect(keys).toEqual([`${root}${i % 100}/a`, `${root}${i % 100}/b`]);
      }
      const head = await store.revision();
      await Promise.all(readers.map((reader) => reader.catchUp(head)));
      for (const reader of readers) expect(reader.received).toHaveLength(2);
      await Promise.all(readers.map((reader) => reader.stop()));
    });

    it("replays thousands of changes without a gap, also to a reader that stopped in between", async () => {
      const store = subject();
      const prefix = freshPrefix();
      const start = await store.revision();
      const stopped = new WatchReader(store, prefix, start);
      const total = 3000;
      written(await store.create(`${prefix}first`, bytes("v")));
      await stopped.changes(1);
      await inParallel(total, 100, async (i) => {
        written(await store.create(`${prefix}${i % 2 === 0 ? "even" : "odd"}/${i}`, bytes("v")));
      });
      const head = await store.revision();
      const late = new WatchReader(store, `${prefix}odd/`, start);
      expect(await late.catchUp(head)).toHaveLength(total / 2);
      const seen = (await stopped.catchUp(head)).map((change) => change.revision);
      expect(seen).toEqual(Array.from({ length: total + 1 }, (_, i) => start + 1 + i));
      await Promise.all([late.stop(), stopped.stop()]);
    }, 60_000);

    it("gives a reader that stopped for 12,000 changes and compactions everything or Compacted, never a gap", async () => {
      const store = subject();
      const prefix = freshPrefix();
      const start = await store.revision();
      const readers = [0, 1, 2].map(() => new WatchReader(store, prefix, start));
      const first = await put(store, `${prefix}first`, "x");
      for (const reader of readers.slice(1)) await reader.changes(1);
      const total = 12_000;
      await inParallel(total, 100, async (i) => {
        written(await store.create(`${prefix}${i}`, bytes("v")));
        if (i % 4000 === 3999) await store.compact((await store.revision()) - 100);
      });
      const wanted = Array.from({ length: total + 1 }, (_, i) => first + i);
      for (const reader of readers) {
        const outcome = await readAll(store, reader, first + total);
        const seen = reader.received.map((change) => change.revision);
        expect(seen).toEqual(outcome === "everything" ? wanted : wanted.slice(0, seen.length));
        await reader.stop();
      }
    }, 120_000);
  });
}

async function readAll(store: Store, reader: WatchReader, head: number): Promise<"everything" | "Compacted"> {
  try {
    await reader.catchUp(head);
    return "everything";
  } catch (error) {
    if (!isStoreError(error, "Compacted")) throw error;
    expect(error.compactRevision).toBeGreaterThan(reader.revision);
    expect(error.compactRevision).toBeLessThanOrEqual(await store.revision());
    return "Compacted";
  }
}
