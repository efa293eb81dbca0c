import { describe, expect, it } from "vitest";
import { DamagedRecord, decodeIndex, decodeLog, decodeState, encodeIndex, encodeLog, encodeState } from "./records.ts";

const allocate = (size: number): Buffer => Buffer.alloc(size, 0xee);
const large = 2 ** 48 - 1;

describe("log records", () => {
  const records = [
    { revision: 1, key: "/a", value: Buffer.from("x"), createRevision: 1, previousRevision: 0 },
    {
      revision: large,
      key: "/ü/中/😀\u0000",
      value: Buffer.alloc(0),
      createRevision: large - 1,
      previousRevision: large - 1,
    },
    { revision: 7, key: "k".repeat(1024), value: undefined, createRevision: 3, previousRevision: 5 },
    { revision: 8, key: "/big", value: Buffer.alloc(300_000, 7), createRevision: 8, previousRevision: 0 },
  ];

  it.each(records)("come back as they were: $revision", (record) => {
    expect(decodeLog(encodeLog(record, allocate))).toEqual(record);
  });

  it("keep nothing of the bytes they were read from", () => {
    const bytes = encodeLog(
      { revision: 1, key: "/a", value: Buffer.from("x"), createRevision: 1, previousRevision: 0 },
      allocate,
    );
    const record = decodeLog(bytes);
    bytes.fill(0);
    expect(record.value?.toString()).toBe("x");
  });
});

describe("index entries and states", () => {
  it("come back as they were", () => {
    const entry = { createRevision: 3, revision: large };
    expect(decodeIndex(encodeIndex(entry))).toEqual(entry);
    const state = { head: large, compacted: 5, format: 1, storeId: "01234567-89ab-4def-8123-456789abcdef" };
    expect(decodeState(encodeState(state))).toEqual(state);
  });
});

describe("damage", () => {
  const log = { revision: 5, key: "/a/b", value: Buffer.from("value"), createRevision: 2, previousRevision: 4 };
  const state = { head: 9, compacted: 5, format: 1, storeId: "01234567-89ab-4def-8123-456789abcdef" };
  const cases = [
    { name: "log", bytes: encodeLog(log, allocate), decode: decodeLog },
    { name: "index", bytes: encodeIndex({ createRevision: 2, revision: 5 }), decode: decodeIndex },
    { name: "state", bytes: encodeState(state), decode: decodeState },
  ];

  it.each(cases)("of any byte of a $name record is noticed", ({ bytes, decode }) => {
    for (let at = 0; at < bytes.length; at++) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      expect(() => decode(damaged)).toThrow(DamagedRecord);
    }
  });

  it.each(cases)("of a $name record cut short is noticed", ({ bytes, decode }) => {
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decode(bytes.subarray(0, length))).toThrow(DamagedRecord);
    }
  });
});
