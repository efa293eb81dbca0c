import { describe, expect, it } from "vitest";
import type { Change } from "../model/store.ts";
import { ChangeWindow, changeBytes } from "./change-window.ts";

const change = (revision: number, key: string, value = ""): Change => ({
  key,
  revision,
  entry: { key, value: Buffer.from(value), createRevision: revision, revision },
  previous: undefined,
});

/** Revision 11 changes /a, 12 changes /b and so on, starting over after /c. */
function filled(count: number, maxChanges: number): ChangeWindow {
  const window = new ChangeWindow(10, maxChanges * changeBytes(change(1, "/a")));
  for (let i = 0; i < count; i++) {
    const revision = 11 + i;
    window.append({ changes: [change(revision, `/${"abc"[i % 3]}`)], revision });
  }
  return window;
}

const shown = (window: ChangeWindow, prefix: string, after: number, limit = 1000) => {
  const slice = window.read(prefix, after, limit);
  return slice && { revisions: slice.changes.map(({ revision }) => revision), through: slice.through };
};

describe("ChangeWindow", () => {
  it.each([
    { prefix: "/", after: 10, limit: 1000, want: { revisions: [11, 12, 13, 14, 15, 16], through: 16 } },
    { prefix: "/a", after: 10, limit: 1000, want: { revisions: [11, 14], through: 16 } },
    { prefix: "/a", after: 11, limit: 1000, want: { revisions: [14], through: 16 } },
    { prefix: "/a", after: 10, limit: 1, want: { revisions: [11], through: 13 } },
    { prefix: "/x", after: 12, limit: 1000, want: { revisions: [], through: 16 } },
    { prefix: "/", after: 16, limit: 1000, want: { revisions: [], through: 16 } },
    { prefix: "/", after: 20, limit: 1000, want: { revisions: [], through: 20 } },
    { prefix: "/", after: 9, limit: 1000, want: undefined },
  ])("reads $prefix after $after, at most $limit", ({ prefix, after, limit, want }) => {
    expect(shown(filled(6, 100), prefix, after, limit)).toEqual(want);
  });

  it("drops the oldest when it is full, and knows it", () => {
    const window = filled(6, 4);
    expect(window.holds(11)).toBe(false);
    expect(window.holds(12)).toBe(true);
    expect(shown(window, "/", 11)).toBeUndefined();
    expect(shown(window, "/", 12)).toEqual({ revisions: [13, 14, 15, 16], through: 16 });
  });

  it("stays correct while thousands pass through", () => {
    const window = filled(10_000, 50);
    expect(shown(window, "/", 9950)).toBeUndefined();
    expect(shown(window, "/", 9960)?.revisions).toEqual(Array.from({ length: 50 }, (_, i) => 9961 + i));
  });

  it("neither cuts nor half drops a revision with several keys", () => {
    const window = new ChangeWindow(10, 3 * changeBytes(change(1, "/a")));
    window.append({ changes: [change(11, "/a"), change(11, "/b")], revision: 11 });
    expect(shown(window, "/", 10, 1)).toEqual({ revisions: [11, 11], through: 11 });
    window.append({ changes: [change(12, "/a"), change(12, "/b")], revision: 12 });
    expect(shown(window, "/", 10)).toBeUndefined();
    expect(shown(window, "/", 11)).toEqual({ revisions: [12, 12], through: 12 });
  });

  it("passes over hidden keys, but not over their revisions", () => {
    const window = new ChangeWindow(10, 1000, (key) => key.startsWith("\0"));
    expect(window.append({ changes: [change(11, "\0own")], revision: 11 })).toEqual([]);
    expect(shown(window, "", 10)).toEqual({ revisions: [], through: 11 });
  });

  it("holds nothing of a change that is larger than itself", () => {
    const window = new ChangeWindow(10, 1000);
    window.append({ changes: [change(11, "/a", "x".repeat(2000))], revision: 11 });
    expect(window.holds(10)).toBe(false);
    expect(shown(window, "/", 11)).toEqual({ revisions: [], through: 11 });
  });
});
