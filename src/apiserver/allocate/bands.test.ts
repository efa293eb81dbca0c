import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededRandom } from "#base";
import { addressRange } from "./address-range.ts";
import { addressBands, lowerBand, places, portBands } from "./bands.ts";

describe("the lower band", () => {
  it.each([
    { what: "a /28", size: 16, rule: addressBands, want: 0 },
    { what: "a /27", size: 32, rule: addressBands, want: 16 },
    { what: "a /23", size: 512, rule: addressBands, want: 32 },
    { what: "a /12", size: 2 ** 20, rule: addressBands, want: 256 },
    { what: "the node ports", size: 2768, rule: portBands, want: 86 },
  ])("of $what is $want", ({ size, rule, want }) => {
    expect(lowerBand(size, rule)).toBe(want);
  });
});

describe("places", () => {
  it("are each tried once, those of the upper band first", () => {
    fc.assert(
      fc.property(fc.nat(50), fc.nat(200), fc.nat(300), fc.nat(), (first, size, upper, seed) => {
        const last = first + size;
        const found = [...places(first, last, upper, seededRandom(seed))];
        expect([...found].sort((a, b) => a - b)).toEqual(Array.from({ length: size + 1 }, (_, i) => first + i));
        const above = found.filter((place) => place >= upper).length;
        expect(found.slice(0, above).every((place) => place >= upper)).toBe(true);
      }),
    );
  });
});

describe("a range of addresses", () => {
  it.each([
    { cidr: "10.96.0.0/12", first: "10.96.0.1", upper: "10.96.1.0", last: "10.111.255.254" },
    { cidr: "10.96.3.4/28", first: "10.96.3.1", upper: "10.96.3.0", last: "10.96.3.14" },
    { cidr: "fd00::/112", first: "fd00::1", upper: "fd00::100", last: "fd00::ffff" },
  ])("$cidr", ({ cidr, ...want }) => {
    const range = addressRange(cidr);
    if (range === undefined) throw new Error("not a range");
    const { first, upper, last } = range;
    expect({ first: range.addressOf(first), upper: range.addressOf(upper), last: range.addressOf(last) }).toEqual(want);
  });

  it("finds the place of every address", () => {
    fc.assert(
      fc.property(fc.constantFrom("10.96.0.0/12", "fd00:1::/64", "192.168.7.0/24"), fc.nat(), (cidr, n) => {
        const range = addressRange(cidr);
        if (range === undefined) throw new Error("not a range");
        const place = range.first + (n % (range.last - range.first + 1));
        expect(range.placeOf(range.addressOf(place))).toBe(place);
      }),
    );
    expect(addressRange("10.0.0.0/8")?.placeOf("11.0.0.1")).toBeUndefined();
    expect(addressRange("nonsense")).toBeUndefined();
  });
});
