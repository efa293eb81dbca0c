import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Endpoint, identityOf } from "./endpoint.ts";
import { place, type Slice } from "./placement.ts";

const endpoint = (at: number, ready = true): Endpoint => ({
  addresses: [`10.0.${Math.floor(at / 250)}.${at % 250}`],
  conditions: { ready, serving: ready, terminating: false },
  targetRef: { kind: "Pod", namespace: "default", name: `p${at}`, uid: `u${at}` },
});
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => endpoint(from + at));
const slice = (name: string, endpoints: readonly Endpoint[]): Slice => ({
  metadata: { name },
  addressType: "IPv4",
  endpoints,
});

/** The slices after all writes. */
function written(existing: readonly Slice[], desired: readonly Endpoint[], max: number) {
  const { create, update, remove, unchanged } = place(existing, desired, max);
  const slices = [
    ...unchanged.map(({ endpoints = [] }) => endpoints),
    ...update.map(({ endpoints }) => endpoints),
    ...create,
  ];
  return {
    slices,
    writes: create.length + update.length + remove.length,
    names: update.map((each) => each.slice.metadata.name),
  };
}

describe("the placement of endpoints", () => {
  it.each([
    { name: "new ones fill slices", have: [], want: [0, 250], writes: 3, sizes: [100, 100, 50] },
    {
      name: "nothing to do",
      have: [
        [0, 100],
        [100, 150],
      ],
      want: [0, 150],
      writes: 0,
      sizes: [100, 50],
    },
    {
      name: "one more goes where it fills best",
      have: [
        [0, 90],
        [90, 120],
      ],
      want: [0, 121],
      writes: 1,
      sizes: [30, 91],
    },
    {
      name: "one for one stays in its slice",
      have: [
        [0, 100],
        [100, 200],
      ],
      want: [1, 201],
      writes: 1,
      sizes: [100, 100],
    },
    {
      name: "a slice that is written anyway is filled first",
      have: [
        [0, 40],
        [50, 90],
      ],
      want: [1, 100],
      writes: 1,
      sizes: [40, 59],
    },
    {
      name: "what fits nowhere gets a slice",
      have: [
        [0, 90],
        [90, 180],
      ],
      want: [0, 195],
      writes: 1,
      sizes: [90, 90, 15],
    },
    {
      name: "an empty slice goes",
      have: [
        [0, 100],
        [100, 101],
      ],
      want: [0, 100],
      writes: 1,
      sizes: [100],
    },
    { name: "all go", have: [[0, 100]], want: [0, 0], writes: 1, sizes: [] },
  ] as const)("$name", ({ have, want, writes, sizes }) => {
    const existing = have.map(([from, to], at) => slice(`s${at}`, range(from, to)));
    const result = written(existing, range(want[0], want[1]), 100);
    expect(result.writes).toBe(writes);
    expect(result.slices.map(({ length }) => length)).toEqual(sizes);
  });

  it("writes one slice when one of 1,000 endpoints changes", () => {
    const existing = Array.from({ length: 10 }, (_, at) => slice(`s${at}`, range(at * 100, at * 100 + 100)));
    const desired = range(0, 1000).map((each, at) => (at === 555 ? endpoint(at, false) : each));
    expect(written(existing, desired, 100)).toMatchObject({ writes: 1, names: ["s5"] });
  });

  it("has every endpoint in exactly one slice, none with too many, and writes only what differs", () => {
    const numbers = fc.uniqueArray(fc.nat(60), { maxLength: 60 });
    fc.assert(
      fc.property(fc.array(numbers, { maxLength: 6 }), numbers, fc.integer({ min: 1, max: 12 }), (have, want, max) => {
        // Slices may overlap, as they can after two controllers have been at work.
        const existing = have.map((each, at) =>
          slice(
            `s${at}`,
            each.slice(0, max).map((n) => endpoint(n)),
          ),
        );
        const desired = want.map((at) => endpoint(at, at % 3 !== 0));
        const { slices } = written(existing, desired, max);
        const found = slices.flat();
        expect(found.map(identityOf).sort()).toEqual(desired.map(identityOf).sort());
        for (const each of found) expect(desired).toContainEqual(each);
        for (const { length } of slices) expect(length).toBeLessThanOrEqual(max);
        const settled = slices.filter(({ length }) => length > 0).map((each, at) => slice(`t${at}`, each));
        expect(written(settled, desired, max).writes).toBe(0);
      }),
    );
  });
});
