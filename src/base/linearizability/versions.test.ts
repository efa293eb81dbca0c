/** The quick check of versions: known histories, and random ones against the search. */

import { describe, expect, it } from "vitest";
import { seededRandom } from "../system/random.ts";
import { judge } from "./judge.ts";
import { VERSIONED } from "./models.ts";
import { firstAnomaly, type VersionedOperation } from "./versions.ts";

const operation =
  (kind: "read" | "write") =>
  (output: number | undefined, calledAt: number, returnedAt: number): VersionedOperation => ({
    ...{ calledAt, returnedAt, output },
    input: { kind },
  });
const read = operation("read");
const write = operation("write");

describe("firstAnomaly", () => {
  it.each<{ name: string; given: readonly VersionedOperation[]; want: RegExp | undefined }>([
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
    {
      name: "a write without an outcome",
      given: [write(undefined, 0, 1), read(0, 2, 3), read(7, 4, 5)],
      want: undefined,
    },
    { name: "a read from the future", given: [read(2, 0, 1), write(2, 2, 3)], want: /before its write was asked for/ },
  ])("$name", ({ given, want }) => {
    if (want === undefined) expect(firstAnomaly(given)).toBeUndefined();
    else expect(firstAnomaly(given)).toMatch(want);
  });

  it("agrees with the search of all orders", () => {
    const random = seededRandom(7);
    let anomalies = 0;
    for (let i = 0; i < 2_000; i++) {
      const count = 3 + random.integer(4);
      const times = shuffled(
        random.next,
        Array.from({ length: 2 * count }, (_, at) => at),
      );
      const operations = Array.from({ length: count }, (_, at) => {
        const [a = 0, b = 0] = [times[2 * at], times[2 * at + 1]];
        // Each version is written at most once.
        const isWrite = at < count / 2;
        const version = random.next() < 0.1 ? undefined : isWrite ? at + 1 : random.integer(count);
        return (isWrite ? write : read)(version, Math.min(a, b), Math.max(a, b));
      });
      const found = firstAnomaly(operations) !== undefined;
      anomalies += Number(found);
      const { kind } = judge(VERSIONED, operations);
      expect([kind, operations]).toEqual([found ? "violation" : "linearizable", operations]);
    }
    expect(anomalies).toBeGreaterThan(500);
    expect(anomalies).toBeLessThan(1_900);
  });
});

function shuffled<T>(next: () => number, list: readonly T[]): readonly T[] {
  return list
    .map((each) => [next(), each] as const)
    .sort(([a], [b]) => a - b)
    .map(([, each]) => each);
}
