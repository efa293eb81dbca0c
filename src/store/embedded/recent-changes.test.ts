import { describe, expect, it } from "vitest";
import { RecentChanges } from "./recent-changes.ts";
import type { LogRecord } from "./records.ts";

function record(revision: number, previousRevision = 0, bytes = 0): LogRecord {
  return { revision, key: "/a", value: Buffer.alloc(bytes), createRevision: revision, previousRevision };
}

describe("recent changes", () => {
  it("are found by their revision, wherever they start", () => {
    const recent = new RecentChanges(1_000_000);
    expect(recent.at(1)).toBeUndefined();
    for (let revision = 41; revision <= 50; revision++) recent.add(record(revision));
    expect([40, 41, 45, 50, 51].map((revision) => recent.at(revision)?.record.revision)).toEqual([
      undefined,
      41,
      45,
      50,
      undefined,
    ]);
    expect([...recent.records(48)].map(({ revision }) => revision)).toEqual([48, 49, 50]);
  });

  it("know what was there before if that is recent, too", () => {
    const recent = new RecentChanges(1_000_000);
    recent.add(record(1));
    expect(recent.add(record(2, 1)).previous?.revision).toBe(1);
    expect(recent.add(record(3, 0)).previous).toBeUndefined();
  });

  it("tell what a key is at now, if it is at the revision that one thinks", () => {
    const recent = new RecentChanges(1_000_000);
    recent.add(record(4));
    expect(recent.current("/a", 4)?.revision).toBe(4);
    expect([recent.current("/b", 4), recent.current("/a", 3), recent.current("/a", undefined)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    recent.add(record(5, 4));
    expect([recent.current("/a", 4), recent.current("/a", 5)?.revision]).toEqual([undefined, 5]);
    recent.add({ ...record(6, 5), value: undefined });
    expect([5, 6].map((revision) => recent.current("/a", revision))).toEqual([undefined, undefined]);
  });

  it("are forgotten oldest first when they take too many bytes", () => {
    const recent = new RecentChanges(10_000);
    for (let revision = 1; revision <= 5000; revision++) {
      recent.add(record(revision, 0, 700));
      expect(recent.at(revision)?.record.revision).toBe(revision);
    }
    const kept = Array.from({ length: 5000 }, (_, i) => i + 1).filter((revision) => recent.at(revision) !== undefined);
    expect(kept.length).toBeGreaterThan(5);
    expect(kept.length).toBeLessThanOrEqual(14);
    expect(kept.at(-1)).toBe(5000);
    recent.add(record(5001, 0, 1_000_000));
    expect(recent.at(5001)).toBeUndefined();
    expect(recent.add(record(5002)).record.revision).toBe(5002);
    expect(recent.at(5002)?.record.revision).toBe(5002);
  });
});
