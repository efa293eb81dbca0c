import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PrefixIndex } from "./prefix-index.ts";

const texts = fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 4 });

describe("PrefixIndex", () => {
  it("finds what is registered under a key's prefixes, and nothing else", async () => {
    await fc.assert(
      fc.property(fc.array(fc.tuple(texts, fc.boolean())), texts, (steps, key) => {
        const index = new PrefixIndex<number>();
        const registered = new Map<number, string>();
        for (const [i, [prefix, dropsOne]] of steps.entries()) {
          index.add(prefix, i);
          registered.set(i, prefix);
          const [oldest] = registered;
          if (!dropsOne || oldest === undefined) continue;
          index.remove(oldest[1], oldest[0]);
          registered.delete(oldest[0]);
        }
        const found: number[] = [];
        index.visit(key, (item) => found.push(item));
        const wanted = [...registered].filter(([, prefix]) => key.startsWith(prefix)).map(([item]) => item);
        expect(found.sort((a, b) => a - b)).toEqual(wanted);
        expect([...index].sort((a, b) => a - b)).toEqual([...registered.keys()]);
      }),
    );
  });

  it("ignores the removal of what is not there", () => {
    const index = new PrefixIndex<string>();
    index.add("/a", "x");
    index.remove("/a", "y");
    index.remove("/b", "x");
    expect([...index]).toEqual(["x"]);
  });
});
