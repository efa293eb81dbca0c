/**
 * The candidate that does the least harm: fewest violated budgets; then the least important most important victim; the smallest sum of priorities; the
 * fewest victims; and whose most important victims have started last.
 */
import { type Candidate, startedMs } from "./victims.ts";

type Cost = (candidate: Candidate) => number;

export function pickCandidate(candidates: readonly Candidate[], nowMs: number): Candidate | undefined {
  const costs: readonly Cost[] = [
    ({ violations }) => violations,
    ({ victims }) => victims[0]?.priority ?? 0,
    // Negative priorities must not make more victims look cheaper than fewer.
    ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + 2 ** 31, 0),
    ({ victims }) => victims.length,
    ({ victims }) => {
      const highest = victims[0]?.priority;
      const top = victims.filter(({ priority }) => priority === highest);
      return -Math.min(...top.map((victim) => startedMs(victim, nowMs)));
    },
  ];
  let left = candidates;
  for (const cost of costs) {
    if (left.length <= 1) break;
    left = cheapest(left, cost);
  }
  return left[0];
}

function cheapest(candidates: readonly Candidate[], cost: Cost): readonly Candidate[] {
  let lowest = Number.POSITIVE_INFINITY;
  let found: Candidate[] = [];
  for (const candidate of candidates) {
    const own = cost(candidate);
    if (own < lowest) {
      lowest = own;
      found = [];
    }
    if (own === lowest) found.push(candidate);
  }
  return found;
}
