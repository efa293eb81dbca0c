import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LogRecord } from "./records.ts";
import { obsoleteIn, Replaced } from "./replaced.ts";

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

  it("is what the records themselves say (property)", async () => {
    const shape = fc.record({ back: fc.nat(20), isDeletion: fc.boolean() });
    await fc.assert(
      fc.property(fc.array(shape, { minLength: 1 }), fc.nat(), fc.nat(), (shapes, from, length) => {
        const first = 100;
        // A deletion always replaces something.
        const records = shapes.map(({ back, isDeletion }, i) =>
          record(first + i, back === 0 && !isDeletion ? 0 : first + i - back - 1, isDeletion),
        );
        const replaced = new Replaced();
        for (const each of records) replaced.add(each);
        const start = from % records.length;
        const part = records.slice(start, start + 1 + (length % records.length));
        const [{ revision } = record(0), last] = [part[0], part.at(-1)];
        expect(replaced.between(revision, last?.revision ?? 0)).toEqual(obsoleteIn(part));
      }),
    );
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
