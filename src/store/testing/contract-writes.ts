/** Contract: create, update and delete as compare-and-swap, under one revision. */

import { describe, expect, it } from "vitest";
import { bytes, freshPrefix, inParallel, put, remove, type Subject, shown, written } from "./subject.ts";

export function describeWrites(subject: Subject): void {
  describe("writes", () => {
    it("creates a key that is absent", async () => {
      const store = subject();
      const key = `${freshPrefix()}a`;
      const before = await store.revision();
      expect(await store.create(key, bytes("one"))).toEqual({ ok: true, revision: before + 1 });
      expect(shown(await store.get(key))).toEqual({
        key,
        text: "one",
        createRevision: before + 1,
        revision: before + 1,
      });
    });

    it("keeps createRevision on update, and starts it anew after delete and create", async () => {
      const store = subject();
      const key = `${freshPrefix()}a`;
      const created = written(await store.create(key, bytes("one")));
      const updated = written(await store.update(key, bytes("two"), created));
      expect(updated).toBe(created + 1);
      expect(shown(await store.get(key))).toEqual({ key, text: "two", createRevision: created, revision: updated });

      expect(written(await store.delete(key, updated))).toBe(updated + 1);
      expect(await store.get(key)).toBeUndefined();

      const again = written(await store.create(key, bytes("three")));
      expect(again).toBe(updated + 2);
      expect(shown(await store.get(key))).toEqual({ key, text: "three", createRevision: again, revision: again });
    });

    it("counts an update to the same value as a write", async () => {
      const store = subject();
      const key = `${freshPrefix()}a`;
      const created = written(await store.create(key, bytes("same")));
      expect(await store.update(key, bytes("same"), created)).toEqual({ ok: true, revision: created + 1 });
      expect((await store.get(key))?.revision).toBe(created + 1);
    });

    const refusals = [
      { name: "create of a key that is there", exists: true, write: "create", expected: "none" },
      { name: "update with an older revision", exists: true, write: "update", expected: "stale" },
      { name: "update with the revision that created the key", exists: true, write: "update", expected: "created" },
      { name: "update with a revision yet to come", exists: true, write: "update", expected: "future" },
      { name: "update with revision 0", exists: true, write: "update", expected: "zero" },
      { name: "delete with an older revision", exists: true, write: "delete", expected: "stale" },
      { name: "delete with a revision yet to come", exists: true, write: "delete", expected: "future" },
      { name: "delete with revision 0", exists: true, write: "delete", expected: "zero" },
      { name: "update of an absent key", exists: false, write: "update", expected: "stale" },
      { name: "update of an absent key with revision 0", exists: false, write: "update", expected: "zero" },
      { name: "delete of an absent key", exists: false, write: "delete", expected: "stale" },
      { name: "delete of an absent key with revision 0", exists: false, write: "delete", expected: "zero" },
      { name: "update of a deleted key with its last revision", exists: false, write: "update", expected: "last" },
      { name: "delete of a deleted key with its last revision", exists: false, write: "delete", expected: "last" },
    ] as const;

    it.each(refusals)("refuses $name, shows what is there, changes nothing", async ({ exists, write, expected }) => {
      const store = subject();
      const key = `${freshPrefix()}a`;
      const stale = await store.revision();
      const created = await put(store, key, "one");
      const last = await put(store, key, "two");
      if (!exists) await remove(store, key);
      const head = await store.revision();
      const current = exists ? { key, text: "two", createRevision: created, revision: last } : undefined;

      const revision = { none: 0, stale, created, last, zero: 0, future: head + 1 }[expected];
      const value = bytes("never");
      const outcome = await {
        create: () => store.create(key, value),
        update: () => store.update(key, value, revision),
        delete: () => store.delete(key, revision),
      }[write]();

      expect(outcome.ok).toBe(false);
      if (!outcome.ok) expect(shown(outcome.current)).toEqual(current);
      expect(await store.revision()).toBe(head);
      expect(shown(await store.get(key))).toEqual(current);
    });

    it("lets exactly one of many creators of a key win", async () => {
      const store = subject();
      const key = `${freshPrefix()}a`;
      const before = await store.revision();
      const outcomes = await Promise.all(Array.from({ length: 50 }, (_, i) => store.create(key, bytes(`${i}`))));
      const winner = outcomes.findIndex((outcome) => outcome.ok);
      expect(outcomes.filter((outcome) => outcome.ok)).toEqual([{ ok: true, revision: before + 1 }]);
      for (const outcome of outcomes) if (!outcome.ok) expect(outcome.current?.value.toString()).toBe(`${winner}`);
      expect(await store.revision()).toBe(before + 1);
    });

    it("lets exactly one of many writers on a key win each revision", async () => {
      const store = subject();
      const key = `${freshPrefix()}counter`;
      const created = await put(store, key, "0");
      const writers = 20;
      const increments = 10;
      const won: { from: number; to: number }[] = [];

      await inParallel(writers, writers, async () => {
        let current = await store.get(key);
        for (let done = 0; done < increments; ) {
          if (current === undefined) throw new Error(`${key} has vanished.`);
          const next = bytes(`${Number(current.value.toString()) + 1}`);
          const outcome = await store.update(key, next, current.revision);
          if (outcome.ok) {
            won.push({ from: current.revision, to: outcome.revision });
            done++;
            current = await store.get(key);
          } else current = outcome.current;
        }
      });

      won.sort((a, b) => a.to - b.to);
      expect(won.map(({ from }) => from)).toEqual([created, ...won.slice(0, -1).map(({ to }) => to)]);
      expect((await store.get(key))?.value.toString()).toBe(`${writers * increments}`);
      expect(await store.revision()).toBe(created + writers * increments);
    });

    it("gives concurrent writes to different keys revisions without gaps or repeats", async () => {
      const store = subject();
      const prefix = freshPrefix();
      const before = await store.revision();
      const revisions: number[] = [];
      await inParallel(300, 50, async (i) => {
        revisions.push(written(await store.create(`${prefix}${i}`, bytes(`${i}`))));
      });
      revisions.sort((a, b) => a - b);
      expect(revisions).toEqual(Array.from({ length: 300 }, (_, i) => before + 1 + i));
      const { entries } = await store.list(prefix);
      expect(entries.map((entry) => entry.revision).sort((a, b) => a - b)).toEqual(revisions);
    });

    it("keeps values byte by byte: empty, binary, and of 1 MB", async () => {
      const store = subject();
      const prefix = freshPrefix();
      const values = [
        Buffer.alloc(0),
        Buffer.from(Array.from({ length: 256 }, (_, i) => i)),
        Buffer.alloc(1024 * 1024, "0123456789abcdefg"),
      ];
      for (const [i, value] of values.entries()) {
        const key = `${prefix}${i}`;
        const created = written(await store.create(key, value));
        for (const entry of [await store.get(key), (await store.list(key)).entries[0]]) {
          expect(Buffer.isBuffer(entry?.value)).toBe(true);
          expect(entry?.value.equals(value)).toBe(true);
        }
        written(await store.update(key, value, created));
        expect((await store.get(key))?.value.equals(value)).toBe(true);
        const old = (await store.list(key, { revision: created })).entries[0];
        expect(old?.value.equals(value)).toBe(true);
      }
    });

    const malformed = [
      { name: "an empty key", key: "" },
      { name: "a key that is no well-formed Unicode", key: "/contract/\ud800" },
      { name: "a key of more than 1,024 bytes", key: `/contract/${"é".repeat(600)}` },
    ];

    it.each(malformed)("rejects $name as a mistake of the caller", async ({ key }) => {
      const store = subject();
      const before = await store.revision();
      await expect(store.create(key, bytes("x"))).rejects.toThrow(RangeError);
      await expect(store.update(key, bytes("x"), before)).rejects.toThrow(RangeError);
      await expect(store.delete(key, before)).rejects.toThrow(RangeError);
      await expect(store.get(key)).rejects.toThrow(RangeError);
      expect(await store.revision()).toBe(before);
    });

    it.each([-1, 0.5, Number.NaN])(
      "rejects an expected revision of %s as a mistake of the caller",
      async (expected) => {
        const store = subject();
        const key = `${freshPrefix()}a`;
        const revision = await put(store, key, "x");
        await expect(store.update(key, bytes("y"), expected)).rejects.toThrow(RangeError);
        await expect(store.delete(key, expected)).rejects.toThrow(RangeError);
        expect((await store.get(key))?.revision).toBe(revision);
      },
    );

    it("takes keys of 1,024 bytes", async () => {
      const store = subject();
      const prefix = freshPrefix();
      const stem = prefix + "é".repeat(480);
      const key = stem + "x".repeat(1024 - Buffer.byteLength(stem));
      const created = written(await store.create(key, bytes("long")));
      expect(shown(await store.get(key))).toEqual({ key, text: "long", createRevision: created, revision: created });
      expect((await store.list(prefix)).entries.map((entry) => entry.key)).toEqual([key]);
    });
  });
}
