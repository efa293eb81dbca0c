/**
 * What is known of the members, and which of them gets the next call. Pure: events in, decisions out.
 *
 *     new ──► good ◄──► suspect ──► bad        good: a read with quorum was answered since the last doubt
 *              ▲────────────────────┘
 *
 * 1. Calls that need the quorum go to good members only: none is sent where it would wait for an election.
 * 2. Calls stay with the member that they went to last, as long as it is good.
 * 3. While no member is good, all are probed, each after a short delay of its own that never exceeds `PROBE.maxMs`:
 *    the first call after an outage does not wait for a long backoff.
 * 4. Members come and go: one that is gone gets no call and no probe until it is back.
 * 5. A member that answers without a leader, or as a learner, still serves local reads.
 */

import type { Reach } from "./endpoint.ts";
import type { Failure } from "./failure.ts";

export type Standing = "new" | "good" | "suspect" | "bad" | "gone";

interface MemberHealth {
  standing: Standing;
  failure: Failure | undefined;
  /** Failed probes and calls in a row. */
  failures: number;
  /** When it is tried again. */
  retryAtMs: number;
  /** How often it has failed so far. */
  outages: number;
}

export const PROBE = { initialMs: 25, maxMs: 250, shortestLimitMs: 250, longestLimitMs: 1000 } as const;

export class Health {
  readonly #members: MemberHealth[];
  #current = 0;

  constructor(count: number) {
    this.#members = Array.from({ length: count }, fresh);
  }

  /** Its number is the next one. */
  add(): void {
    this.#members.push(fresh());
  }

  /** Whether it is one of the cluster, from now on. */
  setPresent(member: number, isPresent: boolean): void {
    const health = this.#of(member);
    if (isPresent === (health.standing !== "gone")) return;
    this.#reset(health, isPresent ? "new" : "gone");
  }

  get count(): number {
    return this.#members.length;
  }

  outages(member: number): number {
    return this.#of(member).outages;
  }

  standing(member: number): Standing {
    return this.#of(member).standing;
  }

  failure(member: number): Failure | undefined {
    return this.#of(member).failure;
  }

  answered(member: number, reach: Reach): void {
    const health = this.#of(member);
    if (health.standing === "gone") return;
    if (reach === "local" && health.standing !== "good") {
      // It answers, so that it is no longer unreachable. Whether it has a quorum is as unknown as before.
      if (health.failure?.kind === "unreachable") this.#reset(health, "suspect");
      return;
    }
    this.#reset(health, "good");
  }

  failed(member: number, failure: Failure, nowMs: number): void {
    const health = this.#of(member);
    health.outages++;
    if (health.standing === "gone") return;
    health.standing = "bad";
    health.failure = failure;
    // Calls that were under way together fail together: that counts as one failure.
    if (nowMs < health.retryAtMs) return;
    health.retryAtMs = nowMs + Math.min(PROBE.maxMs, PROBE.initialMs * 2 ** health.failures);
    health.failures++;
  }

  /** A call to it takes long: it gets no other until it has answered a probe. */
  suspected(member: number): void {
    const health = this.#of(member);
    if (health.standing === "good") health.standing = "suspect";
  }

  /** The member for the next call, or when to look again. Undefined: after a probe has proven one. */
  choose(reach: Reach, nowMs: number): { readonly member: number } | { readonly waitMs: number } | undefined {
    const inOrder = this.#members.map((_, i) => (this.#current + i) % this.#members.length);
    const good = inOrder.find((member) => this.#of(member).standing === "good");
    if (good !== undefined) {
      this.#current = good;
      return { member: good };
    }
    if (reach === "cluster") return undefined;
    const present = inOrder.filter((member) => this.#of(member).standing !== "gone");
    const readable = present.find((member) => {
      const { failure, retryAtMs } = this.#of(member);
      return failure === undefined || failure.kind === "leaderless" || retryAtMs <= nowMs;
    });
    if (readable !== undefined) return { member: readable };
    return { waitMs: Math.max(1, Math.min(...present.map((member) => this.#of(member).retryAtMs)) - nowMs) };
  }

  /** Whether members have to be probed: a call would find none, or one is under suspicion. */
  get isProbing(): boolean {
    return this.#members.every(({ standing }) => standing !== "good") || this.#members.some(isSuspect);
  }

  /** When this member is probed next, and how long it has for an answer; undefined: there is no need. */
  probe(member: number, nowMs: number): { readonly inMs: number; readonly limitMs: number } | undefined {
    const { standing, failures, retryAtMs } = this.#of(member);
    if (standing === "good" || standing === "gone" || !this.isProbing) return undefined;
    const limitMs = Math.min(PROBE.longestLimitMs, PROBE.shortestLimitMs * 2 ** failures);
    return { inMs: Math.max(0, retryAtMs - nowMs), limitMs };
  }

  #reset(health: MemberHealth, standing: Standing): void {
    health.standing = standing;
    health.failure = undefined;
    health.failures = 0;
    health.retryAtMs = 0;
  }

  #of(member: number): MemberHealth {
    const health = this.#members[member];
    if (health === undefined) throw new RangeError(`There is no member ${member}.`);
    return health;
  }
}

function fresh(): MemberHealth {
  return { standing: "new", failure: undefined, failures: 0, retryAtMs: 0, outages: 0 };
}

function isSuspect({ standing }: MemberHealth): boolean {
  return standing === "suspect";
}
