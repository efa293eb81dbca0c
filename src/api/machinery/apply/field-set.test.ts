import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  difference,
  type ElementPath,
  emptySet,
  equalSets,
  excludeFields,
  type FieldSet,
  fieldSet,
  hasPath,
  includeFields,
  intersection,
  isEmpty,
  leaves,
  pathsOf,
  printPath,
  recursiveDifference,
  union,
} from "./index.ts";

const element = fc.constantFrom("f:a", "f:b", 'k:{"name":"x"}', 'v:"y"', "i:0");
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 8 });

function texts(set: FieldSet): string[] {
  return [...pathsOf(set)].map((each) => each.join("/")).sort();
}

function textsOf(given: readonly ElementPath[]): string[] {
  return [...new Set(given.map((each) => each.join("/")))].sort();
}

describe("a field set", () => {
  it("holds the paths it was made of", () => {
    fc.assert(
      fc.property(paths, (given) => {
        const set = fieldSet(...given);
        expect(texts(set)).toEqual(textsOf(given));
        for (const each of given) expect(hasPath(set, each)).toBe(true);
        expect(isEmpty(set)).toBe(given.length === 0);
      }),
    );
  });

  it("adds, intersects and subtracts as sets of paths do", () => {
    fc.assert(
      fc.property(paths, paths, (left, right) => {
        const [a, b] = [fieldSet(...left), fieldSet(...right)];
        const [inA, inB] = [new Set(textsOf(left)), new Set(textsOf(right))];
        expect(texts(union(a, b))).toEqual([...new Set([...inA, ...inB])].sort());
        expect(texts(intersection(a, b))).toEqual([...inA].filter((text) => inB.has(text)));
        expect(texts(difference(a, b))).toEqual([...inA].filter((text) => !inB.has(text)));
        const below = (text: string): boolean =>
          [...inB].some((other) => text === other || text.startsWith(`${other}/`));
        expect(texts(recursiveDifference(a, b))).toEqual([...inA].filter((text) => !below(text)));
      }),
    );
  });

  it("keeps the laws of sets, and no empty node", () => {
    fc.assert(
      fc.property(paths, paths, (left, right) => {
        const [a, b] = [fieldSet(...left), fieldSet(...right)];
        expect(equalSets(union(a, b), union(b, a))).toBe(true);
        expect(equalSets(union(difference(a, b), intersection(a, b)), a)).toBe(true);
        expect(isEmpty(intersection(difference(a, b), b))).toBe(true);
        expect(union(a, intersection(a, b))).toBe(a);
        expect(difference(a, difference(b, a))).toBe(a);
        for (const result of [union(a, b), intersection(a, b), difference(a, b), recursiveDifference(a, b)])
          expectNoEmptyNode(result);
      }),
    );
  });

  it("has leaves, below which nothing is", () => {
    fc.assert(
      fc.property(paths, (given) => {
        const all = textsOf(given);
        const want = all.filter((text) => !all.some((other) => other.startsWith(`${text}/`)));
        expect(texts(leaves(fieldSet(...given)))).toEqual(want);
      }),
    );
  });

  it("lists members before what is below them, in Kubernetes' order", () => {
    const set = fieldSet(
      ["f:b"],
      ["f:a", "f:c"],
      ["f:a"],
      ["f:l", 'k:{"port":8080}'],
      ["f:l", 'k:{"port":80}'],
      ["f:l", 'k:{"name":"z","port":1}'],
      ["f:l", "f:z"],
      ["f:l", 'v:"x"'],
      ["f:l", "v:2"],
      ["f:l", "i:10"],
      ["f:l", "i:9"],
    );
    expect([...pathsOf(set)].map(printPath)).toEqual([
      ".a",
      ".b",
      ".a.c",
      ".l.z",
      '.l[name="z",port=1]',
      ".l[port=80]",
      ".l[port=8080]",
      ".l[=2]",
      '.l[="x"]',
      ".l[9]",
      ".l[10]",
    ]);
  });

  it.each([
    {
      name: "exclude",
      filter: excludeFields(fieldSet(["f:status"])),
      want: ["f:spec/f:containers/k/f:image", "f:spec/f:containers/k/f:resources/f:limits"],
    },
    {
      name: "include",
      filter: includeFields(["f:spec", "f:containers", "*", "f:resources"], ["f:status"]),
      want: ["f:spec/f:containers/k/f:resources/f:limits", "f:status/f:phase"],
    },
  ])("can be filtered: $name", ({ filter, want }) => {
    const set = fieldSet(
      ["f:spec", "f:containers", "k", "f:image"],
      ["f:spec", "f:containers", "k", "f:resources", "f:limits"],
      ["f:status", "f:phase"],
    );
    expect(texts(filter(set))).toEqual(want);
    expect(filter(emptySet)).toEqual(emptySet);
  });
});

function expectNoEmptyNode(set: FieldSet): void {
  for (const child of set.children.values()) {
    expect(isEmpty(child)).toBe(false);
    expectNoEmptyNode(child);
  }
}
