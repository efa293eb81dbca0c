/** Contract: get, list and count, in byte order, by pages, and as of older revisions. */

import { describe, expect, it } from "vitest";
import type { Entry, ListOptions, Store } from "../model/store.ts";
import { bytes, failureCode, freshPrefix, inParallel, put, remove, type Subject, shown, written } from "./subject.ts";

/** In the order of their UTF-8 bytes; JavaScript would sort the last two the other way round. */
const NAMES_IN_BYTE_ORDER = [
  "\u0000",
  "\u0001",
  "-",
  ".",
  "/",
  "A",
  "a",
  "a\u0000",
  "a-",
  "a/",
  "a/b",
  "aa",
  "b",
  "~",
  "\u007f",
  "é",
  "ü",
  "߿",
  "ࠀ",
  "中",
  "\uffff",
  "😀",
];

export function describeReads(subject: Subject): void {
  describe("reads", () => {
    it("answers a get of an absent key with undefined", async () => {
      expect(await subject().get(`${freshPrefix()}absent`)).toBeUndefined();
    });

    it("finds nothing below an unused prefix, at the newest revision", async () => {
      const store = subject();
      const prefix = freshPrefix();
      expect(await store.list(prefix)).toEqual({ entries: [], revision: await store.revision(), more: false });
      expect(await store.count(prefix)).toBe(0);
    });

    it("lists keys in the order of their bytes", async () => {
      const store = subject();
      const prefix = freshPrefix();
      const wanted = NAMES_IN_BYTE_ORDER.map((name) => prefix + name);
      const shuffled = wanted.map((_, i) => wanted[(i * 7 + 3) % wanted.length] ?? "");
      for (const key of shuffled) await put(store, key, key);

      const { entries } = await store.list(prefix);
      expect(entries.map((entry) => entry.key)).toEqual(wanted);
      expect(entries.map((entry) => entry.value.toString())).toEqual(wanted);
      expect(await keysByPages(store, prefix, 1)).toEqual(wanted);
      expect(await keysByPages(store, prefix, 5)).toEqual(wanted);
      const old = await store.revision();
      for (const key of shuffled) await remove(store, key);
      expect(await keysByPages(store, prefix, 4, old)).toEqual(wanted);
      for (const key of shuffled) expect((await store.list(key, { revision: old })).entries[0]?.key).toBe(key);
    });

    it("keeps apart prefixes that are prefixes of others", async () => {
      const store = subject();
      const root = freshPrefix();
      const names = ["a", "a.b", "a/", "a/x", "a/x/y", "aa", "ab", "b"];
      for (const name of names) await put(store, root + name, name);
      const head = await store.revision();
      const cases = {
        "": names,
        a: ["a", "a.b", "a/", "a/x", "a/x/y", "aa", "ab"],
        "a/": ["a/", "a/x", "a/x/y"],
        "a/x": ["a/x", "a/x/y"],
        aa: ["aa"],
        c: [],
      };
      for (const [prefix, wanted] of Object.entries(cases)) {
        const keys = wanted.map((name) => root + name);
        expect((await store.list(root + prefix)).entries.map((entry) => entry.key)).toEqual(keys);
        expect(await store.count(root + prefix)).toBe(keys.length);
        const old = await store.list(root + prefix, { revision: head });
        expect(old.entries.map((entry) => entry.key)).toEqual(keys);
      }
    });

    it("lists everything below the empty prefix", async () => {
      const store = subject();
      const key = `${freshPrefix()}somewhere`;
      await put(store, key, "x");
      const keys = await keysByPages(store, "", 1000);
      expect(keys).toContain(key);
      expect(await store.count("")).toBe(keys.length);
    });

    it("counts what is there now", async () => {
      const store = subject();
      const prefix = freshPrefix();
      for (const name of ["a", "b", "c"]) await put(store, prefix + name, "1");
      expect(await store.count(prefix)).toBe(3);
      await put(store, `${prefix}a`, "2");
      expect(await store.count(prefix)).toBe(3);
      await remove(store, `${prefix}b`);
      expect(await store.count(prefix)).toBe(2);
    });

    it("limits pages and says whether more follows", async () => {
      const store = subject();
      const prefix = freshPrefix();
      for (const name of ["a", "b", "c", "d"]) await put(store, prefix + name, name);
      const revision = await store.revision();
      const cases: readonly { options: ListOptions; keys: string; more: boolean }[] = [
        { options: { limit: 3 }, keys: "abc", more: true },
        { options: { limit: 4 }, keys: "abcd", more: false },
        { options: { limit: 5 }, keys: "abcd", more: false },
        { options: { limit: 2, after: `${prefix}b` }, keys: "cd", more: false },
        { options: { limit: 1, after: `${prefix}b` }, keys: "c", more: true },
        { options: { after: `${prefix}bb` }, keys: "cd", more: false },
        { options: { after: `${prefix}d` }, keys: "", more: false },
        { options: { after: `${prefix}z` }, keys: "", more: false },
        { options: { after: "0" }, keys: "", more: false },
        { options: { after: "" }, keys: "abcd", more: false },
        { options: { after: "!" }, keys: "abcd", more: false },
        { options: { after: prefix, limit: 1 }, keys: "a", more: true },
      ];
      for (const { options, keys, more } of cases) {
        const wanted = { keys: [...keys].map((name) => prefix + name), revision, more };
        for (const at of [{}, { revision }]) {
          const page = await store.list(prefix, { ...options, ...at });
          expect({ ...page, entries: undefined, keys: page.entries.map((entry) => entry.key) }).toEqual(wanted);
        }
      }
    });

    it("reads all pages as of one revision while writes go on", async () => {
      const store = subject();
      const prefix = freshPrefix();
      const key = (i: number): string => `${prefix}${String(i).padStart(3, "0")}`;
      await inParallel(100, 20, async (i) => {
        written(await store.create(key(i), bytes("before")));
      });
      const whole = await store.list(prefix);

      const first = await store.list(prefix, { limit: 7 });
      expect(first.revision).toBe(whole.revision);
      const pages: Entry[] = [...first.entries];
      for (let more = first.more, turn = 0; more; turn++) {
        // Each turn changes, deletes and creates keys on both sides of the page's end.
        await put(store, key(turn), "after");
        await remove(store, key(99 - turn));
        await put(store, `${key(turn * 5)}new`, "after");
        const page = await store.list(prefix, { limit: 7, after: pages.at(-1)?.key ?? "", revision: first.revision });
        expect(page.revision).toBe(first.revision);
        pages.push(...page.entries);
        more = page.more;
      }
      expect(pages.map(shown)).toEqual(whole.entries.map(shown));
    });

    it("shows keys as they were at an older revision", async () => {
      const store = subject();
      const prefix = freshPrefix();
      const empty = await store.revision();
      const states: { revision: number; entries: readonly Entry[] }[] = [{ revision: empty, entries: [] }];
      const steps = [
        () => put(store, `${prefix}a`, "1"),
        () => put(store, `${prefix}b`, "1"),
        () => put(store, `${prefix}a`, "2"),
        () => remove(store, `${prefix}a`),
        () => put(store, `${prefix}c`, "1"),
        () => put(store, `${prefix}a`, "3"),
        () => remove(store, `${prefix}b`),
        () => remove(store, `${prefix}a`),
        () => put(store, `${prefix}a`, "4"),
      ];
      for (const step of steps) {
        const revision = await step();
        states.push({ revision, entries: (await store.list(prefix)).entries });
      }
      for (const { revision, entries } of states) {
        const page = await store.list(prefix, { revision });
        expect(page.revision).toBe(revision);
        expect(page.entries.map(shown)).toEqual(entries.map(shown));
        expect(page.more).toBe(false);
      }
    });

    it("never takes revision 0 for the newest one", async () => {
      const store = subject();
      const key = `${freshPrefix()}a`;
      await put(store, key, "x");
      const entries = await store.list(key, { revision: 0 }).then(
        (page) => page.entries,
        (error) => error,
      );
      if (Array.isArray(entries)) expect(entries).toEqual([]);
      else expect(entries).toMatchObject({ name: "StoreError", code: "Compacted" });
    });

    it("fails as FutureRevision for a list at a revision yet to come", async () => {
      const store = subject();
      const revision = (await store.revision()) + 1;
      expect(await failureCode(() => store.list(freshPrefix(), { revision }))).toBe("FutureRevision");
    });

    it("answers local reads", async () => {
      const store = subject();
      const key = `${freshPrefix()}a`;
      const revision = await put(store, key, "x");
      const local = { consistency: "local" } as const;
      expect((await store.get(key, local))?.revision).toBe(revision);
      expect((await store.list(key, local)).entries).toHaveLength(1);
      expect(await store.count(key, local)).toBe(1);
      expect(await store.revision(local)).toBe(revision);
    });

    it.each([{ limit: 0 }, { limit: -1 }, { limit: 1.5 }, { revision: -1 }, { revision: 0.5 }, { after: "\udc00" }])(
      "rejects a list with %j as a mistake of the caller",
      async (options) => {
        await expect(subject().list(freshPrefix(), options)).rejects.toThrow(RangeError);
      },
    );
  });
}

async function keysByPages(store: Store, prefix: string, limit: number, revision?: number): Promise<string[]> {
  let page = await store.list(prefix, revision === undefined ? { limit } : { limit, revision });
  const keys = page.entries.map((entry) => entry.key);
  while (page.more) {
    page = await store.list(prefix, { limit, revision: page.revision, after: keys.at(-1) ?? "" });
    keys.push(...page.entries.map((entry) => entry.key));
  }
  return keys;
}
