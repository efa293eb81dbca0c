/** Addresses are given out once, until they are let go. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AddressPool, AddressPoolError } from "./address-pool.ts";

const all = (ranges: string[], family: "IPv4" | "IPv6" = "IPv4") => {
  const pool = new AddressPool(ranges);
  const found: string[] = [];
  for (let address = pool.take("x", family); address !== undefined; address = pool.take("x", family))
    found.push(address);
  return found;
};

describe("a pool", () => {
  it.each<[string[], "IPv4" | "IPv6", string[]]>([
    [["192.0.2.0/30"], "IPv4", ["192.0.2.1", "192.0.2.2"]],
    [["192.0.2.7/32"], "IPv4", ["192.0.2.7"]],
    [["192.0.2.255 - 192.0.3.1"], "IPv4", ["192.0.2.255", "192.0.3.0", "192.0.3.1"]],
    [["192.0.2.9", "fd00::/127"], "IPv6", ["fd00::", "fd00::1"]],
    [["192.0.2.9"], "IPv6", []],
  ])("of %j has in %s %j", (ranges, family, want) => expect(all(ranges, family)).toEqual(want));

  it.each(["", "192.0.2.0/33", "192.0.2.9-192.0.2.1", "192.0.2.1-fd00::1", "x"])("is not made of %j", (text) => {
    expect(() => new AddressPool([text])).toThrow(AddressPoolError);
  });

  it("never gives one address to two", () => {
    const owner = fc.constantFrom("a", "b", "c");
    const step = fc.oneof(
      fc.record({ verb: fc.constant("take" as const), owner, last: fc.constant(0) }),
      fc.record({ verb: fc.constant("claim" as const), owner, last: fc.integer({ min: 0, max: 9 }) }),
      fc.record({ verb: fc.constant("release" as const), owner, last: fc.integer({ min: 0, max: 9 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const pool = new AddressPool(["192.0.2.0/29"]);
        const held = new Map<string, string>();
        for (const { verb, owner, last } of steps) {
          const address = `192.0.2.${last}`;
          if (verb === "release") {
            pool.release(address);
            held.delete(address);
          } else if (verb === "take") {
            const taken = pool.take(owner, "IPv4");
            expect(taken === undefined).toBe(held.size === 6);
            if (taken !== undefined) expect(held.has(taken)).toBe(false);
            if (taken !== undefined) held.set(taken, owner);
          } else {
            const isThere = last >= 1 && last <= 6;
            const may = isThere && (held.get(address) ?? owner) === owner;
            expect(pool.claim(owner, address)).toBe(may);
            if (may) held.set(address, owner);
          }
        }
      }),
    );
  });
});
