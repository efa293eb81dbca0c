import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plainValue } from "./plain-value.ts";

const circle: Record<string, unknown> = { name: "a" };
circle.self = { again: circle };
const shared = { x: 1 };
const errorCircle = new Error("round");
errorCircle.cause = errorCircle;

describe("plainValue", () => {
  const table: { name: string; given: unknown; want: unknown }[] = [
    { name: "JSON as it is", given: { a: [1, "x", null, true] }, want: { a: [1, "x", null, true] } },
    { name: "bigint", given: 12n, want: "12" },
    { name: "NaN and infinities", given: [Number.NaN, -Infinity], want: ["NaN", "-Infinity"] },
    { name: "undefined properties are left out", given: { a: undefined }, want: {} },
    { name: "symbols and functions", given: [Symbol("s"), function run() {}], want: ["Symbol(s)", "[Function run]"] },
    { name: "bytes", given: Buffer.from("hi"), want: "[2 bytes: 6869]" },
    { name: "many bytes", given: new Uint8Array(40), want: `[40 bytes: ${"00".repeat(32)}…]` },
    { name: "dates", given: [new Date(0), new Date(Number.NaN)], want: ["1970-01-01T00:00:00.000Z", "Invalid Date"] },
    { name: "maps and sets", given: [new Map([["k", 1]]), new Set([1])], want: [{ k: 1 }, [1]] },
    { name: "circles", given: circle, want: { name: "a", self: { again: "[Circular]" } } },
    { name: "one object in two places", given: [shared, shared], want: [shared, shared] },
    { name: "toJSON", given: { toJSON: () => ({ a: 1n }) }, want: { a: "1" } },
    { name: "no prototype", given: Object.assign(Object.create(null), { a: 1 }), want: { a: 1 } },
    {
      name: "depth",
      given: { a: { b: { c: { d: { e: { f: {} } } } } } },
      want: { a: { b: { c: { d: { e: { f: "[Object]" } } } } } },
    },
    {
      name: "getters that throw",
      given: {
        ok: 1,
        get bad() {
          throw new Error("no");
        },
      },
      want: { ok: 1, bad: "[Unreadable: no]" },
    },
    {
      name: "proxies that throw",
      given: new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error("no");
          },
        },
      ),
      want: "[Unreadable: no]",
    },
  ];
  it.each(table)("$name", ({ given, want }) => {
    expect(plainValue(given)).toEqual(want);
  });

  it("cuts long lists and objects", () => {
    expect(plainValue(Array.from({ length: 1_000 }, () => 0))).toHaveLength(101);
    const wide = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`k${i}`, i]));
    expect(plainValue(wide)).toHaveProperty("…", "50 more");
  });

  it("errors keep causes, aggregates and own properties, also in circles", () => {
    expect(plainValue(errorCircle)).toMatchObject({ message: "round", cause: "[Circular]" });
    expect(plainValue(new AggregateError([new Error("one")], "all"))).toMatchObject({ errors: [{ message: "one" }] });
  });

  it("turns anything into something JSON takes (property)", () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withNullPrototype: true,
      withSparseArray: true,
      withBoxedValues: true,
    });
    fc.assert(
      fc.property(anything, (value) => {
        const text = JSON.stringify(plainValue(value));
        expect(JSON.stringify(JSON.parse(text))).toBe(text);
      }),
    );
  });
});
