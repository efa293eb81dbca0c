import { describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { cached } from "./token-cache.ts";
import { refused, type Verdict } from "./verdict.ts";

function world(verdict: () => Verdict, { successMs = 1_000, failureMs = 500, maxTokens = 10 } = {}) {
  const clock = new VirtualClock();
  let asked = 0;
  const authenticate = cached(
    async () => {
      asked++;
      return verdict();
    },
    { clock, successMs, failureMs, maxTokens },
  );
  return { clock, authenticate, asked: () => asked };
}

const known: Verdict = { user: { name: "ann", groups: [] } };

describe("what was said of a token", () => {
  it.each([
    { name: "who it is", verdict: known, rememberedMs: 1_000 },
    { name: "that nobody knows it", verdict: undefined, rememberedMs: 500 },
    { name: "what went wrong", verdict: refused("unreachable"), rememberedMs: 0 },
  ])("$name is remembered for $rememberedMs ms", async ({ verdict, rememberedMs }) => {
    const { clock, authenticate, asked } = world(() => verdict);
    expect(await authenticate("t", [])).toEqual(verdict);
    if (rememberedMs > 0) await clock.advance(rememberedMs - 1);
    await authenticate("t", []);
    expect(asked()).toBe(rememberedMs > 0 ? 1 : 2);
    await clock.advance(1);
    await authenticate("t", []);
    expect(asked()).toBe(rememberedMs > 0 ? 2 : 3);
  });

  it("is asked once for requests at the same time", async () => {
    const { authenticate, asked } = world(() => known);
    await Promise.all([authenticate("t", []), authenticate("t", []), authenticate("t", [])]);
    expect(asked()).toBe(1);
  });

  it("is another matter for other audiences", async () => {
    const { authenticate, asked } = world(() => known);
    for (const audiences of [[], ["a"], ["b"], ["a", "b"], ["a,b"]]) await authenticate("t", audiences);
    expect(asked()).toBe(5);
  });

  it("is forgotten when too many others came since", async () => {
    const { authenticate, asked } = world(() => known, { maxTokens: 2 });
    for (const token of ["a", "b", "a", "c", "a", "b"]) await authenticate(token, []);
    // `b` was used longest ago when `c` came.
    expect(asked()).toBe(4);
  });

  it("does not stay under way after a failure", async () => {
    let fail = true;
    const { authenticate } = world(() => {
      if (fail) throw new Error("broken");
      return known;
    });
    await expect(authenticate("t", [])).rejects.toThrow("broken");
    fail = false;
    expect(await authenticate("t", [])).toEqual(known);
  });
});
