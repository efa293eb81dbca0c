import fc from "fast-check";
import { expect, it } from "vitest";
import { LruMap } from "./lru-map.ts";

const letters = (map: LruMap<string, number>) => [...map].map(([key]) => key).join("");

type Use = (map: LruMap<string, number>) => unknown;
const setD: Use = (map) => map.set("d", 4);

it.each<{ readonly name: string; readonly uses: readonly Use[]; readonly want: string }>([
  { name: "evicts the oldest when it is full", uses: [setD], want: "bcd" },
  { name: "get counts as use", uses: [(map) => map.get("a"), setD], want: "cad" },
  { name: "set counts as use", uses: [(map) => map.set("a", 5), setD], want: "cad" },
  { name: "has does not count as use", uses: [(map) => map.has("a"), setD], want: "bcd" },
  { name: "a miss changes nothing", uses: [(map) => map.get("x")], want: "abc" },
  { name: "delete makes room", uses: [(map) => map.delete("b"), setD], want: "acd" },
  { name: "a lower limit evicts at the next set", uses: [(map) => Object.assign(map, { limit: 2 }), setD], want: "cd" },
  { name: "clear", uses: [(map) => map.clear()], want: "" },
])("$name", ({ uses, want }) => {
  const map = new LruMap<string, number>(3);
  for (const [at, key] of ["a", "b", "c"].entries()) map.set(key, at + 1);
  for (const use of uses) use(map);
  expect(letters(map)).toBe(want);
  expect(map.size).toBe(want.length);
});

it("reports what it evicts, not what is deleted or replaced", () => {
  const evicted: string[] = [];
  const map = new LruMap<string, number>(2, (key, value) => evicted.push(`${key}${value}`));
  map.set("a", 1);
  map.set("a", 2);
  map.set("b", 3);
  map.delete("b");
  map.set("c", 4);
  map.set("d", 5);
  expect(evicted).toEqual(["a2"]);
});

it("keeps the values of the keys that were used last, and no others", () => {
  const key = fc.integer({ min: 0, max: 9 });
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), key)), fc.integer({ min: 1, max: 6 }), (uses, limit) => {
      const map = new LruMap<number, number>(limit);
      let used: number[] = [];
      for (const [isSet, key] of uses) {
        if (isSet) map.set(key, key * 2);
        else expect(map.get(key)).toBe(used.includes(key) ? key * 2 : undefined);
        if (isSet || used.includes(key)) used = [...used.filter((each) => each !== key), key].slice(-limit);
      }
      expect([...map]).toEqual(used.map((each) => [each, each * 2]));
    }),
  );
});
