/**
 * The candidate that does the least harm: fewest violated budgets; then the least important most important victim; the smallest sum of priorities; the
 * fewest victims; and whose most important victims have started last.
 *
 * 1. A candidate is remembered from one pod to the next, among hundreds: all but the times is counted once for each.
 */
import { type Candidate, startedMs } from "./victims.ts";

interface Harm {
  readonly violations: number;
  readonly highest: number;
  readonly sum: number;
  readonly count: number;
}

const harms = new WeakMap<Candidate, Harm>();

export function pickCandidate(candidates: readonly Candidate[], nowMs: number): Candidate | undefined {
  let best: Candidate | undefined;
  let least: Harm | undefined;
  let equals: Candidate[] = [];
  for (const candidate of candidates) {
    const harm = harmOf(candidate);
    const order = least === undefined ? -1 : compare(harm, least);
    if (order > 0) continue;
    if (order < 0) {
      best = candidate;
      least = harm;
      equals = [candidate];
    } else equals.push(candidate);
  }
  return equals.length <= 1 ? best : lastStarted(equals, nowMs);
}

function harmOf(candidate: Candidate): Harm {
  let harm = harms.get(candidate);
  if (harm === undefined) {
    const { violations, victims } = candidate;
    const highest = victims[0]?.priority ?? 0;
    // Negative priorities must not make more victims look cheaper than fewer.
    const sum = victims.reduce((total, { priority }) => total + priority + 2 ** 31, 0);
    harm = { violations, highest, sum, count: victims.length };
    harms.set(candidate, harm);
  }
  return harm;
}

function compare(a: Harm, b: Harm): number {
  return a.violations - b.violations || a.highest - b.highest || a.sum - b.sum || a.count - b.count;
}

/** The first of them, if several. */
function lastStarted(candidates: readonly Candidate[], nowMs: number): Candidate | undefined {
  let best: Candidate | undefined;
  let latest = Number.NEGATIVE_INFINITY;
  for (const candidate of candidates) {
    const { victims } = candidate;
    const highest = victims[0]?.priority;
    let first = Number.POSITIVE_INFINITY;
    for (const victim of victims) {
      if (victim.priority === highest) first = Math.min(first, startedMs(victim, nowMs));
    }
    if (best !== undefined && first <= latest) continue;
    best = candidate;
    latest = first;
  }
  return best;
}
