import { describe, expect, it } from "vitest";
import type { Change, Entry } from "../model/store.ts";
import { overlaid, pageOf, undo } from "./list-at.ts";

const entry = (key: string, revision: number): Entry => ({ key, value: Buffer.from(""), createRevision: 1, revision });
const change = (revision: number, key: string, previous?: number, deleted = false): Change => ({
  key,
  revision,
  entry: deleted ? undefined : entry(key, revision),
  previous: previous === undefined ? undefined : entry(key, previous),
});
const brief = (entries: Iterable<Entry>): string[] => [...entries].map(({ key, revision }) => `${key}${revision}`);

describe("undo", () => {
  const cases = [
    { name: "takes back an update", current: ["a5"], changes: [change(5, "a", 3)], want: ["a3"] },
    { name: "takes back a creation", current: ["a2", "b5"], changes: [change(5, "b")], want: ["a2"] },
    {
      name: "takes back a deletion",
      current: ["a2", "c2"],
      changes: [change(5, "b", 3, true)],
      want: ["a2", "b3", "c2"],
    },
    {
      name: "takes back a deletion at the end",
      current: ["a2"],
      changes: [change(5, "b", 3, true)],
      want: ["a2", "b3"],
    },
    {
      name: "goes back to before the first of several changes",
      current: ["a7"],
      changes: [change(4, "a", 2), change(5, "a", 4, true), change(6, "a"), change(7, "a", 6)],
      want: ["a2"],
    },
    {
      name: "sees nothing of a key that came and went",
      current: [],
      changes: [change(4, "a"), change(5, "a", 4, true)],
      want: [],
    },
    { name: "keeps byte order", current: ["\uffff2"], changes: [change(5, "😀", 3, true)], want: ["\uffff2", "😀3"] },
  ];

  it.each(cases)("$name", ({ current, changes, want }) => {
    const entries = current.map((text) => entry(text.slice(0, -1), Number(text.slice(-1))));
    expect(brief(overlaid(entries, undo(changes, "")))).toEqual(want);
  });

  it("looks only at its prefix, and after its key", () => {
    const changes = ["a", "p/a", "p/b", "p/c", "q"].map((key, i) => change(10 + i, key, 3));
    expect([...undo(changes, "p/").keys()]).toEqual(["p/a", "p/b", "p/c"]);
    expect([...undo(changes, "p/", "p/b").keys()]).toEqual(["p/c"]);
  });
});

describe("pageOf", () => {
  const entries = [entry("a", 1), entry("b", 2)];
  it.each([
    { limit: undefined, count: 2, more: false },
    { limit: 1, count: 1, more: true },
    { limit: 2, count: 2, more: false },
    { limit: 3, count: 2, more: false },
  ])("cuts at $limit", ({ limit, count, more }) => {
    expect(pageOf(entries, 9, limit)).toEqual({ entries: entries.slice(0, count), revision: 9, more });
  });
});
