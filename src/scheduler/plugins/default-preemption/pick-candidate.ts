/**
 * The candidate that does the least harm: fewest violated budgets; then the least important most important victim; the smallest sum of priorities; the
 * fewest victims; and whose most important victims have started last.
 */
import type { Candidate, Harm } from "./victims.ts";

/** The first of them, if several are equal. */
export function pickCandidate(candidates: readonly Candidate[], nowMs: number): Candidate | undefined {
  let best: Candidate | undefined;
  for (const candidate of candidates)
    if (best === undefined || compare(candidate.harm, best.harm, nowMs) < 0) best = candidate;
  return best;
}

function compare(a: Harm, b: Harm, nowMs: number): number {
  return (
    a.violations - b.violations ||
    a.highest - b.highest ||
    a.sum - b.sum ||
    a.count - b.count ||
    firstStart(b, nowMs) - firstStart(a, nowMs)
  );
}

function firstStart({ startedMs, hasUnstarted }: Harm, nowMs: number): number {
  return hasUnstarted ? Math.min(startedMs, nowMs) : startedMs;
}
