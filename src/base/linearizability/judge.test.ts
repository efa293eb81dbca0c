/** The checker itself: histories that are known to be good or bad, and random ones against a search of all orders. */

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judge, judgeParts, type Operation } from "./judge.ts";
import { REGISTER, type RegisterInput, type RegisterOutput, SET, type SetInput, type SetOutput } from "./models.ts";

type RegisterOperation = Operation<RegisterInput, RegisterOutput>;

/** "w1 0-2": write 1 from 0 to 2. "r1", "r_" (absent), "c1>2", "c1>2x" (refused). "?" instead of the end: unknown. */
function register(text: string): RegisterOperation[] {
  return text.split(",").map((part) => {
    const [what = "", times = ""] = part.trim().split(" ");
    const [from = "", to = ""] = times.split("-");
    const isUnknown = to === "?";
    const isRefused = what.endsWith("x");
    const value = (given: string) => (given === "_" ? undefined : given);
    const rest = what.slice(1).replace(/x$/, "");
    const [a = "", b = ""] = rest.split(">");
    const input: RegisterInput =
      what[0] === "r"
        ? { kind: "read" }
        : what[0] === "w"
          ? { kind: "write", value: rest }
          : { kind: "swap", from: value(a), to: value(b) };
    const answer: RegisterOutput =
      what[0] === "r" ? { kind: "value", value: value(rest) } : isRefused ? { kind: "refused" } : { kind: "done" };
    return { calledAt: Number(from), returnedAt: Number(to), input, output: isUnknown ? undefined : answer };
  });
}

describe("a register", () => {
  it.each([
    { name: "one after the other", given: "w1 0-1, r1 2-3", want: "linearizable" },
    { name: "a stale read", given: "w1 0-1, w2 2-3, r1 4-5", want: "violation" },
    {
      name: "a read during a write sees the old or the new value",
      given: "w1 0-1, w2 2-9, r1 3-4, r2 5-6",
      want: "linearizable",
    },
    {
      name: "two reads that see values in different orders",
      given: "w1 0-1, w2 2-9, r2 3-4, r1 5-6",
      want: "violation",
    },
    { name: "a value out of nowhere", given: "w1 0-1, r7 2-3", want: "violation" },
    { name: "absent at first", given: "r_ 0-1, c_>1 2-3, r1 4-5", want: "linearizable" },
    { name: "two swaps of the same value", given: "w1 0-1, c1>2 2-9, c1>3 3-8", want: "violation" },
    { name: "of two swaps one is refused", given: "w1 0-1, c1>2 2-9, c1>3x 3-8, r2 10-11", want: "linearizable" },
    { name: "refused without a reason", given: "w1 0-1, c1>2x 2-3", want: "violation" },
    { name: "an unknown write that is seen later", given: "w1 0-1, w2 2-?, r1 3-4, r2 5-6", want: "linearizable" },
    { name: "an unknown write that is never seen", given: "w1 0-1, w2 2-?, r1 3-4, r1 90-99", want: "linearizable" },
    { name: "an unknown write that is seen before it was sent", given: "w1 0-1, r2 2-3, w2 4-?", want: "violation" },
    { name: "an unknown write that is seen, and then not", given: "w1 0-1, w2 2-?, r2 3-4, r1 5-6", want: "violation" },
    { name: "an unknown write that happens twice", given: "w1 0-1, w2 2-?, r2 3-4, w3 5-6, r2 7-8", want: "violation" },
    { name: "a deletion", given: "c_>1 0-1, c1>_ 2-3, r_ 4-5, c_>1 6-7", want: "linearizable" },
    { name: "a lost acknowledged write", given: "c_>1 0-1, r_ 2-3", want: "violation" },
  ])("$name: $want", ({ given, want }) => {
    expect(judge(REGISTER, register(given)).kind).toBe(want);
  });

  it("names what could not follow", () => {
    const history = register("w1 0-1, w2 2-3, r1 4-5");
    expect(judge(REGISTER, history)).toEqual({
      kind: "violation",
      longest: history.slice(0, 2),
      stuck: [history[2]],
    });
  });

  it("gives up, and says so, rather than guess", () => {
    expect(judge(REGISTER, register("w1 0-9, w2 0-9, w3 0-9, r1 10-11, r2 12-13"), 3).kind).toBe("undecided");
  });

  it("agrees with a search of all orders", async () => {
    const operation = fc
      .record({
        kind: fc.constantFrom("read", "write", "swap"),
        a: fc.constantFrom("1", "2"),
        b: fc.constantFrom("1", "2"),
        calledAt: fc.integer({ min: 0, max: 12 }),
        ms: fc.integer({ min: 0, max: 6 }),
        outcome: fc.constantFrom("ok", "ok", "ok", "refused", "unknown"),
      })
      .map(({ kind, a, b, calledAt, ms, outcome }): RegisterOperation => {
        const input: RegisterInput =
          kind === "read" ? { kind } : kind === "write" ? { kind, value: a } : { kind: "swap", from: a, to: b };
        const known: RegisterOutput =
          kind === "read"
            ? { kind: "value", value: a }
            : { kind: kind === "swap" && outcome === "refused" ? "refused" : "done" };
        return { calledAt, returnedAt: calledAt + ms, input, output: outcome === "unknown" ? undefined : known };
      });
    let violations = 0;
    await fc.assert(
      fc.property(fc.array(operation, { maxLength: 6 }), (history) => {
        const expected = anyOrder(history);
        if (!expected) violations++;
        expect(judge(REGISTER, history).kind).toBe(expected ? "linearizable" : "violation");
      }),
      { numRuns: 500, seed: 7 },
    );
    expect(violations).toBeGreaterThan(50);
  });
});

/** As the definition says: all orders that respect the times, with every choice of unknown operations. */
function anyOrder(history: readonly RegisterOperation[], state = REGISTER.initial): boolean {
  if (history.every(({ output }) => output === undefined)) return true;
  return history.some((first, i) => {
    const rest = history.filter((_, n) => n !== i);
    const isFirst = rest.every(({ returnedAt, output }) => output === undefined || returnedAt >= first.calledAt);
    if (!isFirst) return false;
    const next = REGISTER.step(state, first.input, first.output);
    return next !== undefined && anyOrder(rest, next);
  });
}

describe("a set", () => {
  const operation = (
    calledAt: number,
    returnedAt: number,
    input: SetInput,
    output: SetOutput | undefined,
  ): Operation<SetInput, SetOutput> => ({ calledAt, returnedAt, input, output });
  const add = (item: string): SetInput => ({ kind: "add", item });
  const items = (...all: string[]): SetOutput => ({ kind: "items", items: all });
  const changed: SetOutput = { kind: "changed" };
  const list: SetInput = { kind: "list" };

  it.each([
    {
      name: "all that was added",
      given: [
        operation(0, 1, add("a"), changed),
        operation(0, 3, add("b"), changed),
        operation(4, 5, list, items("b", "a")),
      ],
      want: "linearizable",
    },
    {
      name: "an item that is lost",
      given: [
        operation(0, 1, add("a"), changed),
        operation(2, 3, add("b"), changed),
        operation(4, 5, list, items("b")),
      ],
      want: "violation",
    },
    {
      name: "an item without an answer that shows up late",
      given: [operation(0, 1, add("a"), undefined), operation(2, 3, list, items()), operation(4, 5, list, items("a"))],
      want: "linearizable",
    },
    {
      name: "an item that comes back after it was removed",
      given: [
        operation(0, 1, add("a"), changed),
        operation(2, 3, { kind: "remove", item: "a" }, changed),
        operation(4, 5, list, items("a")),
      ],
      want: "violation",
    },
    {
      name: "two lists that saw two additions in different orders",
      given: [
        operation(0, 9, add("a"), changed),
        operation(0, 9, add("b"), changed),
        operation(1, 2, list, items("a")),
        operation(3, 4, list, items("b")),
      ],
      want: "violation",
    },
  ])("$name: $want", ({ given, want }) => {
    expect(judge(SET, given).kind).toBe(want);
  });
});

interface Keyed {
  readonly key: string;
  readonly operation: RegisterInput;
}

it("parts are judged apart", () => {
  const keyed = (key: string, text: string) =>
    register(text).map((operation) => ({ ...operation, input: { key, operation: operation.input } }));
  const model = {
    ...REGISTER,
    step: (state: string | undefined, input: Keyed, output: RegisterOutput | undefined) =>
      REGISTER.step(state, input.operation, output),
  };
  const good = [...keyed("a", "w1 0-1, r1 2-3"), ...keyed("b", "w2 0-1, r2 2-3")];
  const bad = [...good, ...keyed("b", "r1 4-5")];
  expect(judgeParts(model, good, ({ key }) => key).kind).toBe("linearizable");
  expect(judgeParts(model, bad, ({ key }) => key).kind).toBe("violation");
});
