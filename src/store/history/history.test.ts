import { describe, expect, it } from "vitest";
import { VirtualClock } from "#base";
import { compactTarget, HistoryKeeper, type HistoryPolicy, type Mark } from "./history.ts";

const mark = (atMs: number, revision: number, bytes = 0): Mark => ({ atMs, revision, bytes });

describe("compactTarget", () => {
  const policy: HistoryPolicy = { maxAgeMs: 100, maxChanges: 50, maxBytes: 1000 };
  const cases = [
    { name: "keeps all when nothing is too much", marks: [mark(0, 10)], now: mark(50, 20), want: undefined },
    { name: "knows nothing without marks", marks: [], now: mark(500, 500), want: undefined },
    { name: "keeps what is not old enough", marks: [mark(0, 10), mark(1, 20)], now: mark(100, 30), want: undefined },
    { name: "forgets what is older", marks: [mark(0, 10), mark(1, 20)], now: mark(101, 30), want: 20 },
    {
      name: "takes the newest mark that is old enough",
      marks: [mark(0, 1), mark(2, 2), mark(9, 9)],
      now: mark(108, 30),
      want: 2,
    },
    { name: "forgets all when all is old", marks: [mark(0, 10), mark(1, 30)], now: mark(500, 30), want: 30 },
    { name: "counts changes exactly", marks: [mark(0, 10)], now: mark(1, 60), want: undefined },
    { name: "forgets changes beyond the limit", marks: [mark(0, 10)], now: mark(1, 61), want: 11 },
    {
      name: "forgets bytes beyond the limit",
      marks: [mark(0, 1, 0), mark(0, 2, 300), mark(0, 3, 600)],
      now: mark(1, 4, 1400),
      want: 3,
    },
    { name: "forgets all when one step is too large", marks: [mark(0, 1, 0)], now: mark(1, 4, 1400), want: 4 },
    {
      name: "follows the strictest rule",
      marks: [mark(0, 1, 0), mark(1, 20, 0), mark(99, 70, 900)],
      now: mark(101, 75, 1500),
      want: 70,
    },
    { name: "never goes back behind what is forgotten", marks: [mark(0, 60)], now: mark(101, 80), want: undefined },
  ];

  it.each(cases)("$name", ({ marks, now, want }) => {
    expect(compactTarget(policy, marks, now)).toBe(want);
  });
});

describe("HistoryKeeper", () => {
  function keeper({ compacted = 0, revision = 0, failing = 0 } = {}) {
    const clock = new VirtualClock();
    const end = new AbortController();
    const compactions: number[] = [];
    const failures: unknown[] = [];
    let left = failing;
    const options = {
      clock,
      policy: { maxAgeMs: 1600, maxChanges: 160, maxBytes: 1600 },
      signal: end.signal,
      compact: async (target: number): Promise<void> => {
        if (left-- > 0) throw new Error("disk full");
        compactions.push(target);
      },
      failed: (error: unknown) => void failures.push(error),
    };
    return { clock, end, compactions, failures, history: new HistoryKeeper(options, compacted, revision) };
  }

  it("forgets by age, with one timer, and none when nothing is left to forget", async () => {
    const { clock, compactions, history } = keeper();
    expect(clock.pending).toBe(0);
    history.wrote(1, 0);
    history.wrote(2, 0);
    expect(clock.pending).toBe(1);
    await clock.advance(1000);
    history.wrote(3, 0);
    await clock.advance(750);
    expect(compactions).toEqual([2]);
    await clock.advance(1000);
    expect(compactions).toEqual([2, 3]);
    expect(clock.pending).toBe(0);
  });

  it("takes history that was there at the start for new", async () => {
    const { clock, compactions } = keeper({ compacted: 5, revision: 9 });
    await clock.advance(1500);
    expect(compactions).toEqual([]);
    await clock.advance(200);
    expect(compactions).toEqual([9]);
    expect(clock.pending).toBe(0);
  });

  it("holds the number of changes in a burst", async () => {
    const { clock, compactions, history } = keeper();
    for (let revision = 1; revision <= 1000; revision++) {
      history.wrote(revision, 0);
      await Promise.resolve();
      expect(revision - (compactions.at(-1) ?? 0)).toBeLessThanOrEqual(170);
    }
    expect(compactions.length).toBeLessThan(100);
    expect(clock.now()).toBe(new VirtualClock().now());
  });

  it("reports a failed compaction and tries again", async () => {
    const { clock, compactions, failures, history } = keeper({ failing: 2 });
    history.wrote(1, 0);
    await clock.advance(1900);
    expect(failures).toHaveLength(2);
    expect(compactions).toEqual([1]);
    expect(clock.pending).toBe(0);
  });

  it("ends with its signal", async () => {
    const { clock, end, compactions, history } = keeper();
    history.wrote(1, 0);
    end.abort();
    expect(clock.pending).toBe(0);
    for (let revision = 2; revision <= 1000; revision++) history.wrote(revision, 100);
    await clock.advance(10_000);
    expect(compactions).toEqual([]);
  });
});
