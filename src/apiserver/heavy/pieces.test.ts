import { describe, expect, it } from "vitest";
import { type Json, parseJson, writeJson } from "#api";
import { type Random, seededRandom } from "#base";
import { cut, cutInTurns, join, joinInTurns, samePieces } from "./pieces.ts";

const MANY = 20_000;
const nested = (depth: number, inner: string) => parseJson(`${'{"a":['.repeat(depth)}${inner}${"]}".repeat(depth)}`);

const values: readonly { name: string; value: Json; several?: boolean }[] = [
  { name: "an empty object", value: {} },
  { name: "empty containers", value: { a: {}, b: [], c: [[], {}] } },
  { name: "a text", value: "a" },
  { name: "null", value: null },
  { name: "leaves of all types", value: [1, -0.5, 1e300, true, false, null, 'ü😀\n"\\'] },
  { name: "integers beyond numbers", value: parseJson('{"a":[9223372036854775807,-9223372036854775808]}') },
  { name: "the key __proto__", value: parseJson(`{"a":{"__proto__":{"b":1},"constructor":2},"__proto__":[3]}`) },
  { name: "a text longer than a piece", value: { a: "x".repeat(200_000), b: 1 }, several: true },
  { name: "a key longer than a piece", value: { ["k".repeat(100_000)]: numbered("v"), b: 1 }, several: true },
  { name: "many keys", value: { metadata: { name: "a" }, data: numbered("v"), z: 1 }, several: true },
  { name: "many keys that look like numbers", value: { data: counted() }, several: true },
  {
    name: "a long list",
    value: { a: Array.from({ length: MANY }, (_, at) => ({ at, b: [] })), z: [1] },
    several: true,
  },
  { name: "many __proto__", value: parseJson(`[${'{"__proto__":{"a":"b"}},'.repeat(MANY)}1]`), several: true },
  { name: "lists deep inside", value: nested(2000, `"${"x".repeat(100_000)}","b"`), several: true },
];

function numbered(value: string): Record<string, Json> {
  return Object.fromEntries(Array.from({ length: MANY }, (_, at) => [`k${(at * 7919) % 100_003}`, value]));
}

function counted(): Record<string, Json> {
  return Object.fromEntries(Array.from({ length: MANY }, (_, at) => [String((at * 7919) % 100_003), at]));
}

describe("a value in pieces", () => {
  it.each(values)("$name", async ({ value, several = false }) => {
    const pieces = cut(value);
    expect(pieces.places.length > 1).toBe(several);
    // Compared here: a difference would be printed by the megabyte.
    expect(writeJson(join(pieces)) === writeJson(value)).toBe(true);
    expect(writeJson(await joinInTurns(pieces)) === writeJson(value)).toBe(true);
    expect(samePieces(pieces, await cutInTurns(value))).toBe(true);
  });

  it("leaves out what is undefined, as JSON does", () => {
    expect(join(cut({ a: undefined, b: [1], c: { d: undefined } }))).toEqual({ b: [1], c: {} });
  });

  it("makes any value again", () => {
    for (let seed = 1; seed <= 30; seed++) {
      const value = any(seededRandom(seed), 6);
      expect(writeJson(join(cut(value))) === writeJson(value)).toBe(true);
    }
  });
});

function any(random: Random, depth: number): Json {
  const below = (most: number) => Math.floor(random.next() * most);
  const kind = below(depth === 0 ? 3 : 5);
  if (kind === 0) return below(1_000_000);
  if (kind === 1) return "t".repeat(below(3000));
  if (kind === 2) return null;
  if (kind === 3) return Array.from({ length: below(12) }, () => any(random, depth - 1));
  return Object.fromEntries(Array.from({ length: below(12) }, (_, at) => [`k${at}`, any(random, depth - 1)]));
}
