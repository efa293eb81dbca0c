import { describe, expect, it } from "vitest";
import { seededRandom } from "#base";
import { firstAnomaly, type Operation } from "./linearizable.ts";

const read = (revision: number, from: number, to: number): Operation => ({ kind: "read", revision, from, to });
const write = (revision: number, from: number, to: number): Operation => ({ kind: "write", revision, from, to });

describe("firstAnomaly", () => {
  it.each<{ name: string; given: readonly Operation[]; want: RegExp | undefined }>([
    { name: "nothing", given: [], want: undefined },
    {
      name: "one after the other",
      given: [write(1, 0, 1), read(1, 2, 3), write(2, 4, 5), read(2, 6, 7)],
      want: undefined,
    },
    {
      name: "a read beside a write sees what was before",
      given: [write(1, 0, 1), write(2, 2, 9), read(1, 3, 4)],
      want: undefined,
    },
    { name: "a read beside a write sees it", given: [write(1, 0, 1), write(2, 2, 9), read(2, 3, 4)], want: undefined },
    {
      name: "a stale read",
      given: [write(1, 0, 1), write(2, 2, 3), read(1, 4, 5)],
      want: /a read got revision 1 after/,
    },
    {
      name: "two reads that go back",
      given: [read(2, 0, 1), read(1, 2, 3)],
      want: /a read got revision 1 after a read/,
    },
    { name: "a write that goes back", given: [write(2, 0, 1), write(1, 2, 3)], want: /a write got revision 1/ },
    { name: "a read from the future", given: [read(2, 0, 1), write(2, 2, 3)], want: /before its write was asked for/ },
  ])("$name", ({ given, want }) => {
    if (want === undefined) expect(firstAnomaly(given)).toBeUndefined();
    else expect(firstAnomaly(given)).toMatch(want);
  });

  it("agrees with trying all orders", () => {
    const random = seededRandom(7);
    let anomalies = 0;
    for (let i = 0; i < 2_000; i++) {
      const times = shuffled(
        random.next,
        Array.from({ length: 8 }, (_, at) => at),
      );
      const operations = Array.from({ length: 4 }, (_, at) => {
        const [a = 0, b = 0] = [times[2 * at], times[2 * at + 1]];
        // Each revision is written at most once.
        const kind = at < 2 ? ("write" as const) : ("read" as const);
        const revision = kind === "write" ? at + 1 : random.integer(3);
        return { kind, revision, from: Math.min(a, b), to: Math.max(a, b) };
      });
      const found = firstAnomaly(operations) !== undefined;
      anomalies += Number(found);
      expect(found, JSON.stringify(operations)).toBe(!orders(operations).some(isHistory));
    }
    expect(anomalies).toBeGreaterThan(100);
  });
});

/** All orders in which nothing comes before what had ended when it began. */
function orders(operations: readonly Operation[]): readonly (readonly Operation[])[] {
  if (operations.length === 0) return [[]];
  return operations
    .filter((first) => operations.every((other) => other === first || other.to > first.from))
    .flatMap((first) => orders(operations.filter((each) => each !== first)).map((rest) => [first, ...rest]));
}

/** A register that begins with revision 0, and whose writes raise the revision. */
function isHistory(operations: readonly Operation[]): boolean {
  let current = 0;
  for (const { kind, revision } of operations) {
    if (kind === "read" ? revision !== current : revision <= current) return false;
    current = revision;
  }
  return true;
}

function shuffled<T>(next: () => number, list: readonly T[]): readonly T[] {
  return list
    .map((each) => [next(), each] as const)
    .sort(([a], [b]) => a - b)
    .map(([, each]) => each);
}
