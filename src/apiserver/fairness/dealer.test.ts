import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dealHand, flowHash } from "./dealer.ts";

describe("hands", () => {
  it("are as many different queues as they should be", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.integer({ min: 1, max: 128 }), (hash, deck) => {
        const size = Math.min(deck, 8);
        const hand = dealHand(hash, deck, size);
        expect(new Set(hand).size).toBe(size);
        for (const card of hand) expect(card >= 0 && card < deck).toBe(true);
      }),
    );
  });

  it.each([
    { hash: 0n, deck: 6, size: 3, want: [0, 1, 2] },
    { hash: 5n, deck: 6, size: 3, want: [5, 0, 1] },
    { hash: 6n, deck: 6, size: 3, want: [0, 2, 1] },
    { hash: 119n, deck: 6, size: 3, want: [5, 4, 3] },
  ])("are dealt by the digits of the hash: $hash of $deck", ({ hash, deck, size, want }) => {
    expect(dealHand(hash, deck, size)).toEqual(want);
  });

  it("of all hands, each comes up", () => {
    const hands = new Set<string>();
    for (let hash = 0n; hash < 24n; hash++) hands.add(dealHand(hash, 4, 4).join(""));
    expect(hands.size).toBe(24);
  });

  it("depend on the schema and on the flow", () => {
    expect(flowHash("a", "b")).not.toBe(flowHash("a", "c"));
    expect(flowHash("a", "b")).not.toBe(flowHash("ab", ""));
    expect(flowHash("global-default", "alice")).toBe(flowHash("global-default", "alice"));
  });
});
