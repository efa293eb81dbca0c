import { describe, expect, it } from "vitest";
import { inSight, matching, moved, scrollFor, sorted } from "./table.ts";

describe("a table", () => {
  const rows = [
    { name: "web-2", restarts: 10 },
    { name: "web-1", restarts: 2 },
    { name: "db", restarts: 2 },
  ];

  it.each([
    ["", 3],
    ["WEB", 2],
    ["web 1", 1],
    ["web db", 0],
  ])("searched for %j shows %d rows", (search, count) => {
    expect(matching(rows, search, ({ name }) => name)).toHaveLength(count);
  });

  it.each([
    [false, ["db", "web-1", "web-2"]],
    [true, ["web-2", "db", "web-1"]],
  ])("sorts numbers as numbers, equal ones by name (descending %j)", (descending, want) => {
    const column = { title: "Restarts", key: (row: (typeof rows)[number]) => row.restarts };
    expect(sorted(rows, column, descending, ({ name }) => name).map(({ name }) => name)).toEqual(want);
  });

  it.each([
    [0, { from: 0, to: 18 }],
    [1000, { from: 42, to: 68 }],
    [1_000_000, { from: 100, to: 100 }],
  ])("scrolled to %d draws only what is in sight", (scrollTop, want) => {
    expect(inSight(scrollTop, 200, 20, 100)).toEqual(want);
  });

  it.each([
    [5, 0, undefined],
    [9, 0, undefined],
    [10, 0, 20],
    [0, 100, 0],
  ])("brings row %d into sight from %d", (row, scrollTop, want) => {
    expect(scrollFor(row, scrollTop, 200, 20)).toBe(want);
  });

  it.each([
    [0, "ArrowUp", 0],
    [0, "ArrowDown", 1],
    [0, "End", 9],
    [9, "PageUp", 4],
    [3, "x", undefined],
  ])("from row %d, %s leads to %s", (row, key, want) => {
    expect(moved(row, key, 10, 5)).toBe(want);
  });
});
