import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type KeyRange, OrderedMap } from "./ordered-map.ts";

/** What an OrderedMap should be: a sorted array. */
class SortedArray<K extends string | number, V> {
  items: (readonly [K, V])[] = [];

  fork(): SortedArray<K, V> {
    const fork = new SortedArray<K, V>();
    fork.items = [...this.items];
    return fork;
  }

  set(key: K, value: V): void {
    this.delete(key);
    this.items.push([key, value]);
    this.items.sort(([a], [b]) => (a < b ? -1 : 1));
  }

  delete(key: K): boolean {
    const before = this.items.length;
    this.items = this.items.filter(([k]) => k !== key);
    return this.items.length < before;
  }

  deleteBelow(key: K): number {
    const before = this.items.length;
    this.items = this.items.filter(([k]) => k >= key);
    return before - this.items.length;
  }

  entries({ from, after, through, before, reverse }: KeyRange<K>): (readonly [K, V])[] {
    const found = this.items.filter(
      ([k]) =>
        (after !== undefined ? k > after : from === undefined || k >= from) &&
        (before !== undefined ? k < before : through === undefined || k <= through),
    );
    return reverse === true ? found.reverse() : found;
  }
}

type Step<K> =
  | { readonly do: "set"; readonly key: K; readonly value: number }
  | { readonly do: "setMany"; readonly key: K; readonly count: number }
  | { readonly do: "delete"; readonly key: K }
  | { readonly do: "deleteMany"; readonly range: KeyRange<K> }
  | { readonly do: "deleteBelow"; readonly key: K }
  | { readonly do: "fork"; readonly into: number }
  | { readonly do: "look"; readonly range: KeyRange<K> };

const kinds = [
  {
    kind: "number",
    keys: fc.integer({ min: 0, max: 600 }) as fc.Arbitrary<string | number>,
    nth: (key: string | number, n: number): string | number => Number(key) + n,
  },
  {
    kind: "string",
    keys: fc.oneof(
      fc.integer({ min: 0, max: 600 }).map((n) => `k${String(n).padStart(3, "0")}`),
      fc.string({ maxLength: 3 }),
    ) as fc.Arbitrary<string | number>,
    nth: (key: string | number, n: number): string | number => `${key}${String(n).padStart(3, "0")}`,
  },
];

function stepsOver<K>(keys: fc.Arbitrary<K>): fc.Arbitrary<{ readonly map: number; readonly step: Step<K> }[]> {
  const maybe = fc.option(keys, { nil: undefined });
  const ranges = fc
    .record({ from: maybe, after: maybe, through: maybe, before: maybe, reverse: fc.boolean() })
    .map((range) => Object.fromEntries(Object.entries(range).filter(([, v]) => v !== undefined)) as KeyRange<K>);
  const step: fc.Arbitrary<Step<K>> = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant("set" as const), key: keys, value: fc.nat() }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("setMany" as const), key: keys, count: fc.nat(150) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("delete" as const), key: keys }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("deleteMany" as const), range: ranges }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("deleteBelow" as const), key: keys }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("fork" as const), into: fc.nat(2) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("look" as const), range: ranges }) },
  );
  return fc.array(fc.record({ map: fc.nat(2), step }), { minLength: 1, maxLength: 60 });
}

describe("OrderedMap", () => {
  it.each(kinds)("behaves like a sorted array with $kind keys, forks included", async ({ keys, nth }) => {
    await fc.assert(
      fc.property(stepsOver(keys), (steps) => {
        type Key = string | number;
        const pairs = [0, 1, 2].map(() => ({
          map: new OrderedMap<Key, number>(),
          want: new SortedArray<Key, number>(),
        }));
        for (const { map: which, step } of steps) {
          const { map, want } = pairs[which] ?? expect.fail();
          switch (step.do) {
            case "set":
              map.set(step.key, step.value);
              want.set(step.key, step.value);
              break;
            case "setMany":
              for (let n = 0; n < step.count; n++) {
                map.set(nth(step.key, n), n);
                want.set(nth(step.key, n), n);
              }
              break;
            case "delete":
              expect(map.delete(step.key)).toBe(want.delete(step.key));
              break;
            case "deleteMany":
              for (const [key] of want.entries(step.range)) {
                expect(map.delete(key)).toBe(true);
                want.delete(key);
              }
              break;
            case "deleteBelow":
              expect(map.deleteBelow(step.key)).toBe(want.deleteBelow(step.key));
              break;
            case "fork":
              pairs[step.into] = { map: map.fork(), want: want.fork() };
              break;
            case "look": {
              const found = want.entries(step.range);
              expect([...map.entries(step.range)]).toEqual(found);
              expect(map.count(step.range)).toBe(found.length);
              const { reverse: _, ...range } = step.range;
              expect(map.first(step.range)).toEqual(want.entries(range).at(0));
              expect(map.last(step.range)).toEqual(want.entries(range).at(-1));
              break;
            }
          }
        }
        for (const { map, want } of pairs) {
          expect(map.size).toBe(want.items.length);
          expect([...map]).toEqual(want.items);
          expect([...map.values({ reverse: true })]).toEqual(want.items.map(([, v]) => v).reverse());
          for (const [i, [key, value]] of want.items.entries()) {
            expect([map.has(key), map.get(key), map.rank(key)]).toEqual([true, value, i]);
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  it("answers for absent keys and empty maps", () => {
    const map = new OrderedMap<string, number>();
    expect([map.get("a"), map.has("a"), map.delete("a"), map.deleteBelow("a")]).toEqual([undefined, false, false, 0]);
    expect([map.first(), map.last(), map.size, [...map]]).toEqual([undefined, undefined, 0, []]);
    map.set("b", 1);
    expect([map.get("a"), map.get("c"), map.rank("a"), map.rank("c")]).toEqual([undefined, undefined, 0, 1]);
  });

  it("keeps undefined apart from absent", () => {
    const map = new OrderedMap<string, undefined>([["a", undefined]]);
    expect([map.has("a"), map.has("b"), map.size]).toEqual([true, false, 1]);
  });

  it("copies nothing on fork, and one path on the first write after it", () => {
    const map = new OrderedMap<number, number>(Array.from({ length: 50_000 }, (_, i) => [i, i] as const));
    const fork = map.fork();
    expect([map.copies, fork.copies]).toEqual([0, 0]);
    fork.set(25_000, -1);
    expect(fork.copies).toBeGreaterThan(0);
    expect(fork.copies).toBeLessThanOrEqual(5);
    const path = fork.copies;
    fork.set(25_000, -2);
    expect([fork.copies, map.copies, map.get(25_000), fork.get(25_000)]).toEqual([path, 0, 25_000, -2]);
    map.delete(25_000);
    expect(map.copies).toBe(path);
    expect([map.size, fork.size, fork.get(25_000)]).toEqual([49_999, 50_000, -2]);
    fork.delete(-1);
    expect(fork.copies).toBe(path);
  });

  it.each([false, true])(
    "goes on after the last key given when written during an iteration (reverse: %s)",
    (reverse) => {
      const map = new OrderedMap<number, string>(Array.from({ length: 200 }, (_, i) => [i * 2, "old"] as const));
      const seen: number[] = [];
      for (const key of map.keys({ reverse })) {
        seen.push(key);
        map.delete(key);
        const ahead = reverse ? key - 1 : key + 1;
        if (ahead % 2 !== 0 && ahead > 0 && key % 2 === 0) map.set(ahead, "new");
      }
      const evenAndOdd = Array.from({ length: 400 }, (_, i) => i);
      expect(seen).toEqual(reverse ? evenAndOdd.slice(0, 399).reverse() : evenAndOdd);
      expect(map.size).toBe(0);
    },
  );

  it("drops long histories from the front while it grows at the end", () => {
    const map = new OrderedMap<number, number>();
    for (let i = 0; i < 100_000; i++) {
      map.set(i, i);
      if (i % 1000 === 999) map.deleteBelow(i - 500);
    }
    expect(map.size).toBe(501);
    expect([...map.keys()]).toEqual(Array.from({ length: 501 }, (_, i) => 99_499 + i));
  });
});
