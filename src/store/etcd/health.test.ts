import { describe, expect, it } from "vitest";
import type { Failure } from "./failure.ts";
import { Health, PROBE } from "./health.ts";

const failure = (kind: Failure["kind"]): Failure => ({ kind, sent: false, reason: kind, cause: undefined });

/** "0+ 1- 2?": member 0 answers, 1 fails, 2 is suspected; "1l": has no leader; "0r": answers a local read; "0x": is gone; "0=": is back. */
function made(history: string, members = 3, nowMs = 0): Health {
  const health = new Health(members);
  for (const [, member = "", event] of history.matchAll(/(\d)([+\-?lrx=])/g)) {
    const index = Number(member);
    if (event === "+") health.answered(index, "cluster");
    else if (event === "r") health.answered(index, "local");
    else if (event === "x" || event === "=") health.setPresent(index, event === "=");
    else if (event === "?") health.suspected(index);
    else health.failed(index, failure(event === "l" ? "leaderless" : "unreachable"), nowMs);
  }
  return health;
}

describe("Health", () => {
  it.each([
    { name: "knows none at first", given: "", want: undefined },
    { name: "takes the one that is proven", given: "1+", want: { member: 1 } },
    { name: "takes the first of several", given: "2+ 1+", want: { member: 1 } },
    { name: "avoids a member that failed", given: "0+ 1+ 0-", want: { member: 1 } },
    { name: "avoids a member under suspicion", given: "0+ 2+ 0?", want: { member: 2 } },
    { name: "waits when all failed", given: "0+ 0- 1- 2-", want: undefined },
    { name: "waits when the only one is under suspicion", given: "0+ 0?", want: undefined },
    { name: "goes on when it answers again", given: "0+ 0? 0+", want: { member: 0 } },
    { name: "takes none that is gone", given: "0+ 1+ 0x", want: { member: 1 } },
    { name: "does not believe an answer of one that is gone", given: "0+ 0x 0+", want: undefined },
    { name: "proves one anew that is back", given: "0+ 0x 0=", want: undefined },
    { name: "does not take a local answer for a quorum", given: "0+ 0- 0r", want: undefined },
    { name: "does not suspect one that has failed already", given: "0- 0?", want: undefined },
  ])("$name", ({ given, want }) => {
    expect(made(given).choose("cluster", 0)).toEqual(want);
  });

  it("stays with the member that it chose", () => {
    const health = made("1+");
    expect(health.choose("cluster", 0)).toEqual({ member: 1 });
    health.answered(0, "cluster");
    expect(health.choose("cluster", 0)).toEqual({ member: 1 });
  });

  it.each([
    { name: "any member at first", given: "", want: { member: 0 } },
    { name: "one without a leader", given: "0- 1l 2-", want: { member: 1 } },
    { name: "one that answers local reads", given: "0- 1- 2- 2r", want: { member: 2 } },
    { name: "none before its time", given: "0- 1- 2-", want: { waitMs: PROBE.initialMs } },
  ])("reads locally from $name", ({ given, want }) => {
    expect(made(given).choose("local", 0)).toEqual(want);
  });

  it.each([
    { name: "nothing while one works and none is in doubt", given: "0+ 1-", want: [] },
    { name: "all while none works", given: "0- 1- 2-", want: [0, 1, 2] },
    { name: "all others while one is under suspicion", given: "0+ 1+ 1?", want: [1, 2] },
  ])("probes $name", ({ given, want }) => {
    const health = made(given);
    expect([0, 1, 2].filter((member) => health.probe(member, 0) !== undefined)).toEqual(want);
  });

  it("probes again soon, however long an outage lasts", () => {
    const health = new Health(1);
    let nowMs = 0;
    const delays: number[] = [];
    for (let i = 0; i < 50; i++) {
      health.failed(0, failure("unreachable"), nowMs);
      const probe = health.probe(0, nowMs);
      delays.push(probe?.inMs ?? -1);
      expect(probe?.limitMs).toBeLessThanOrEqual(PROBE.longestLimitMs);
      nowMs += probe?.inMs ?? 0;
    }
    expect(delays[0]).toBe(PROBE.initialMs);
    expect(Math.max(...delays)).toBe(PROBE.maxMs);
  });

  it("counts calls that fail together as one failure", () => {
    const health = made("0- 0- 0- 0-", 1);
    expect(health.probe(0, 0)?.inMs).toBe(PROBE.initialMs);
    expect(health.outages(0)).toBe(4);
  });
});
