import { describe, expect, it } from "vitest";
import type { LogRecord } from "./records.ts";
import { Replaced } from "./replaced.ts";

const record = (revision: number, previousRevision = 0, isDeletion = false): LogRecord => ({
  revision,
  key: "/a",
  value: isDeletion ? undefined : Buffer.from("x"),
  createRevision: 1,
  previousRevision,
});

describe("what changes have replaced", () => {
  it("is what they say, and deletions themselves", () => {
    const replaced = new Replaced();
    for (const each of [record(7), record(8, 7), record(9, 3), record(10, 8, true), record(11)]) replaced.add(each);
    expect(replaced.between(7, 7)).toEqual([]);
    expect(replaced.between(8, 9)).toEqual([7, 3]);
    expect(replaced.between(9, 11)).toEqual([3, 8, 10]);
  });

  it("is not known of what came before, after, or was forgotten", () => {
    const replaced = new Replaced();
    expect(replaced.between(1, 1)).toBeUndefined();
    for (let revision = 5; revision <= 9; revision++) replaced.add(record(revision, revision - 1));
    expect([replaced.between(4, 6), replaced.between(8, 10)]).toEqual([undefined, undefined]);
    replaced.forget(2);
    expect(replaced.between(5, 5)).toEqual([4]);
    replaced.forget(6);
    expect([replaced.between(6, 7), replaced.between(7, 9)]).toEqual([undefined, [6, 7, 8]]);
    replaced.forget(100);
    expect(replaced.between(9, 9)).toBeUndefined();
    replaced.add(record(10, 9));
    expect(replaced.between(10, 10)).toEqual([9]);
  });

  it("stays the same while it forgets", () => {
    const replaced = new Replaced();
    for (let revision = 100; revision < 30_100; revision++) {
      replaced.add(record(revision, revision - 1));
      if (revision % 1000 === 0) replaced.forget(revision - 1500);
      expect(replaced.between(revision, revision)).toEqual([revision - 1]);
    }
    expect(replaced.between(30_000 - 1499, 30_000 - 1498)).toEqual([28_500, 28_501]);
  });
});
