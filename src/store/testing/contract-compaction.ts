/** Contract: compaction forgets history before its revision, and nothing else. */

import { describe, expect, it } from "vitest";
import type { Entry, Store } from "../model/store.ts";
import { failureCode, freshPrefix, put, remove, type Subject, shown, storeFailure } from "./subject.ts";
import { WatchReader } from "./watch-reader.ts";

export function describeCompaction(subject: Subject): void {
  describe("compaction", () => {
    it("fails older lists and watches as Compacted, naming the oldest revision that can be read", async () => {
      const store = subject();
      const { prefix, states, compacted } = await compactedHistory(store);
      for (const { revision } of states.filter((state) => state.revision < compacted)) {
        const calls = [
          () => store.list(prefix, { revision }),
          () => store.list(prefix, { revision, limit: 1, after: `${prefix}a` }),
          () => new WatchReader(store, prefix, revision).next(),
          () => new WatchReader(store, freshPrefix(), revision).next(),
        ];
        for (const call of calls) {
          const error = await storeFailure(call);
          expect(error.code).toBe("Compacted");
          expect(error.compactRevision).toBe(compacted);
          expect(error.message).toContain(`${compacted}`);
        }
      }
    });

    it("keeps the state at its revision and all history after it", async () => {
      const store = subject();
      const { prefix, states, compacted } = await compactedHistory(store);
      for (const { revision, entries } of states.filter((state) => state.revision >= compacted)) {
        expect((await store.list(prefix, { revision })).entries.map(shown)).toEqual(entries.map(shown));
      }
      const kept = states.map((state) => state.revision).filter((revision) => revision > compacted);
      const reader = new WatchReader(store, prefix, compacted);
      expect((await reader.changes(kept.length)).map((change) => change.revision)).toEqual(kept);
      await reader.stop();
    });

    it("keeps keys that have not changed for long", async () => {
      const store = subject();
      const prefix = freshPrefix();
      const created = await put(store, `${prefix}old`, "x");
      await put(store, `${prefix}other`, "y");
      const head = await store.revision();
      await store.compact(head);
      const wanted = { key: `${prefix}old`, text: "x", createRevision: created, revision: created };
      expect(shown(await store.get(`${prefix}old`))).toEqual(wanted);
      expect(shown((await store.list(prefix)).entries[0])).toEqual(wanted);
      expect(await store.revision()).toBe(head);
      const updated = await store.update(`${prefix}old`, Buffer.from("z"), created);
      expect(updated).toEqual({ ok: true, revision: head + 1 });
      expect(shown((await store.list(prefix, { revision: head })).entries[0])).toEqual(wanted);
    });

    it("can compact up to the newest revision", async () => {
      const store = subject();
      const key = `${freshPrefix()}a`;
      const before = await put(store, key, "1");
      const head = await remove(store, key);
      await store.compact(head);
      expect(await failureCode(() => store.list(key, { revision: before }))).toBe("Compacted");
      expect((await store.list(key, { revision: head })).entries).toEqual([]);
      const reader = new WatchReader(store, key, head);
      const again = await put(store, key, "2");
      expect((await reader.changes(1)).map((change) => change.revision)).toEqual([again]);
      await reader.stop();
    });

    it("does not lose a deletion at its own revision", async () => {
      const store = subject();
      const key = `${freshPrefix()}a`;
      const before = await put(store, key, "1");
      const deleted = await remove(store, key);
      await put(store, `${key}2`, "x");
      await store.compact(deleted);
      // A watch after `before` needs the change at `deleted`: it must not pass over it in silence.
      expect(await failureCode(() => new WatchReader(store, key, before).next())).toBe("Compacted");
      expect((await store.list(key, { revision: deleted })).entries).toEqual([]);
    });

    it("changes nothing when repeated or further back", async () => {
      const store = subject();
      const { prefix, states, compacted } = await compactedHistory(store);
      const head = await store.revision();
      await store.compact(compacted);
      await store.compact(compacted - 1);
      await store.compact(0);
      expect(await store.revision()).toBe(head);
      const { revision, entries } = states.find((state) => state.revision === compacted) ?? {
        revision: -1,
        entries: [],
      };
      expect((await store.list(prefix, { revision })).entries.map(shown)).toEqual(entries.map(shown));
    });

    it("fails as FutureRevision for a revision yet to come, and changes nothing", async () => {
      const store = subject();
      const head = await put(store, `${freshPrefix()}a`, "x");
      expect(await failureCode(() => store.compact(head + 1))).toBe("FutureRevision");
      expect((await store.list("/contract/", { revision: head, limit: 1 })).revision).toBe(head);
      await expect(store.compact(-1)).rejects.toThrow(RangeError);
    });

    it("leaves a watch that has seen all alone", async () => {
      const store = subject();
      const key = `${freshPrefix()}a`;
      const reader = new WatchReader(store, key, await store.revision());
      const first = await put(store, key, "1");
      await reader.changes(1);
      const pending = reader.next();
      await store.compact(first);
      const second = await put(store, key, "2");
      await pending;
      expect((await reader.changes(2)).map((change) => change.revision)).toEqual([first, second]);
      await reader.stop();
    });

    it("does not fail a waiting watch whose prefix has not changed for long", async () => {
      const store = subject();
      const quiet = `${freshPrefix()}quiet`;
      const busy = freshPrefix();
      const reader = new WatchReader(store, quiet, await store.revision());
      const pending = reader.changes(1);
      for (let i = 0; i < 20; i++) {
        await put(store, `${busy}a`, `${i}`);
        await store.compact(await store.revision());
      }
      const revision = await put(store, quiet, "x");
      expect((await pending).map((change) => change.revision)).toEqual([revision]);
      await reader.stop();
    });
  });
}

interface State {
  readonly revision: number;
  readonly entries: readonly Entry[];
}

/** Writes a small history and compacts in its middle. */
async function compactedHistory(store: Store) {
  const prefix = freshPrefix();
  const states: State[] = [];
  const note = async (write: Promise<number>): Promise<void> => {
    const revision = await write;
    states.push({ revision, entries: (await store.list(prefix)).entries });
  };
  await note(put(store, `${prefix}a`, "1"));
  await note(put(store, `${prefix}b`, "1"));
  await note(put(store, `${prefix}a`, "2"));
  await note(remove(store, `${prefix}b`));
  await note(put(store, `${prefix}c`, "1"));
  await note(remove(store, `${prefix}a`));
  await note(put(store, `${prefix}b`, "2"));
  const compacted = states[3]?.revision ?? 0;
  await store.compact(compacted);
  return { prefix, states, compacted };
}
