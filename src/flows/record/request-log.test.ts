import { describe, expect, it } from "vitest";
import type { RequestRecord } from "./record.ts";
import { RequestFacts, recordOf } from "./request-facts.ts";
import { RequestLog } from "./request-log.ts";

const CREATE = { verb: "create", apiGroup: "apps", resource: "deployments", subresource: "" };

function facts(seq: number, more: Partial<RequestFacts> = {}): RequestFacts {
  const made = new RequestFacts();
  return Object.assign(made, {
    seq,
    at: 1000.5 + seq,
    tookMs: 0.25,
    about: CREATE,
    name: `web-${seq}`,
    status: 201,
    ...more,
  });
}

function seqs(log: RequestLog): number[] {
  return [...log].map(({ seq }) => seq);
}

describe("a log of requests", () => {
  it("gives back what it was given", () => {
    const log = new RequestLog(1_000_000);
    const plain = facts(1, { user: "alice", userAgent: "kubectl/1", namespace: "default", authorization: "RBAC" });
    const refused = facts(2, {
      user: "mallory",
      status: 403,
      reason: "Forbidden",
      refusedBy: "PodSecurity",
      calls: [{ to: "webhook w", what: "AdmissionReview", afterMs: 1, tookMs: 2 }],
      cause: "w/1",
    });
    const written = facts(3, { revision: 2 ** 40, change: "ADDED", uid: "u", writtenAt: 1003.75 });
    const timed = facts(4, { mutated: ["A", "B"], validated: ["B", "C"], stamps: [0, 5, 7, 10, 11, 14], split: 3 });
    const foreign = facts(5, { name: "größer" });
    const long = facts(6, { name: "x".repeat(100_000) });
    const nameless = facts(7, { name: "" });
    const all = [plain, refused, written, timed, foreign, long, nameless, facts(8)];
    for (const each of all) log.push(each);
    expect([...log]).toEqual(all);
  });

  it("tells requests apart that have much in common", () => {
    const log = new RequestLog(1_000_000);
    const about = { ...CREATE, subresource: "status" };
    const differing: Partial<RequestFacts>[] = [
      {},
      { user: "bob" },
      { userAgent: "curl" },
      { namespace: "a" },
      { status: 409 },
      { change: "ADDED" },
      { about },
      { authorization: "RBAC" },
      { reason: "Conflict" },
      { mutated: ["A"] },
      { validated: ["A"] },
      { refusedBy: "A" },
    ];
    const all = [...differing, ...differing.toReversed()].map((more, at) => facts(at, { user: "alice", ...more }));
    for (const each of all) log.push(each);
    expect([...log]).toEqual(all);
  });

  it("copies: what it was given may be filled in anew", () => {
    const log = new RequestLog(100_000);
    const one = facts(1);
    log.push(one);
    one.name = "other";
    expect([...log].map(({ name }) => name)).toEqual(["web-1"]);
  });

  it("keeps the latest, and counts what had to go", () => {
    const log = new RequestLog(20_000);
    for (let seq = 1; seq <= 1000; seq++) log.push(facts(seq));
    const kept = seqs(log);
    expect(kept.at(-1)).toBe(1000);
    expect(kept.length).toBeGreaterThan(50);
    expect(kept.length + log.dropped).toBe(1000);
    expect(kept).toEqual(Array.from(kept, (_, at) => log.dropped + 1 + at));
  });

  it("counts words: what callers make up is bounded, too", () => {
    const log = new RequestLog(50_000);
    for (let seq = 1; seq <= 2000; seq++) log.push(facts(seq, { userAgent: `${seq}`.padEnd(1000, "x") }));
    expect(seqs(log).length).toBeLessThan(100);
    expect([...log].at(-1)?.userAgent).toMatch(/^2000x/);
  });

  it("has no room for less than one", () => {
    const log = new RequestLog(1);
    for (let seq = 1; seq <= 3; seq++) log.push(facts(seq));
    expect(seqs(log).at(-1)).toBe(3);
    expect(seqs(log).length).toBeLessThanOrEqual(2);
  });
});

describe("times of admission plugins", () => {
  const times = (more: Partial<RequestFacts>): RequestRecord["admissionMicroseconds"] =>
    recordOf(facts(1, more)).admissionMicroseconds;
  it.each<[string, Partial<RequestFacts>, RequestRecord["admissionMicroseconds"]]>([
    ["none were asked", {}, undefined],
    ["nobody took the time", { mutated: ["A"] }, undefined],
    ["one phase", { mutated: ["A", "B"], stamps: [10, 15, 18] }, { A: 5, B: 3 }],
    ["both", { mutated: ["A"], validated: ["A", "B"], stamps: [0, 5, 9, 10, 30], split: 2 }, { A: 6, B: 20 }],
    ["asked again", { mutated: ["A", "B"], stamps: [0, 1, 3, 7, 15] }, { A: 5, B: 10 }],
    ["refused by the first", { mutated: ["A", "B"], stamps: [0, 4], refusedBy: "A" }, { A: 4 }],
  ])("%s", (_, more, want) => {
    expect(times(more)).toEqual(want);
  });
});
