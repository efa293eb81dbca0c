import { describe, expect, it } from "vitest";
import { seededRandom } from "../system/random.ts";
import { Chain, Link } from "./chain.ts";

const links = (count: number) => Array.from({ length: count }, (_, i) => new Link(i));
const values = (chain: Chain<Link<number>>) => [...chain].map(({ value }) => value);

function chained(count: number) {
  const all = links(count);
  const chain = new Chain<Link<number>>();
  for (const link of all) chain.add(link);
  return { chain, all };
}

describe("a chain", () => {
  it.each([
    { name: "the first", leaving: [0], want: [1, 2, 3] },
    { name: "one between", leaving: [2], want: [0, 1, 3] },
    { name: "the last", leaving: [3], want: [0, 1, 2] },
    { name: "neighbours", leaving: [1, 2], want: [0, 3] },
    { name: "all, forwards", leaving: [0, 1, 2, 3], want: [] },
    { name: "all, backwards", leaving: [3, 2, 1, 0], want: [] },
    { name: "one twice", leaving: [1, 1], want: [0, 2, 3] },
  ])("keeps its order when it is left by $name", ({ leaving, want }) => {
    const { chain, all } = chained(4);
    for (const i of leaving) chain.delete(all[i] as Link<number>);
    expect(values(chain)).toEqual(want);
    expect([chain.size, chain.first?.value]).toEqual([want.length, want[0]]);
    chain.add(new Link(9));
    expect(values(chain)).toEqual([...want, 9]);
  });

  it("lets go of who leaves, and who leaves of the others", () => {
    const { chain, all } = chained(3);
    const between = all[1] as Link<number>;
    const asked = [chain.has(between), chain.delete(between), chain.has(between), chain.delete(between)];
    expect(asked).toEqual([true, true, false, false]);
    expect([between.chain, between.before, between.after]).toEqual([undefined, undefined, undefined]);
    expect(all.some(({ before, after }) => before === between || after === between)).toBe(false);
  });

  it("does not let go of who is in another", () => {
    const { chain, all } = chained(2);
    const other = chained(1);
    expect(other.chain.delete(all[0] as Link<number>)).toBe(false);
    expect([values(chain), values(other.chain)]).toEqual([[0, 1], [0]]);
  });

  it("is as a Set, whatever comes and goes, and from one to another", () => {
    const random = seededRandom(3);
    const all = links(50);
    const chains = [new Chain<Link<number>>(), new Chain<Link<number>>()] as const;
    const sets = [new Set<Link<number>>(), new Set<Link<number>>()] as const;
    for (let step = 0; step < 3_000; step++) {
      const link = random.pick(all);
      const at = random.integer(2) === 0 ? 0 : 1;
      if (sets.every((set) => !set.has(link))) {
        chains[at].add(link);
        sets[at].add(link);
      } else expect(chains[at].delete(link)).toBe(sets[at].delete(link));
      if (step % 50 !== 0) continue;
      expect(chains.map(values)).toEqual(sets.map((set) => [...set].map(({ value }) => value)));
      expect(chains.map(({ size }) => size)).toEqual(sets.map(({ size }) => size));
    }
  });
});
