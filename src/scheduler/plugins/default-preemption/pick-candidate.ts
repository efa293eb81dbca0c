/**
 * The least harmful candidate: fewest PodDisruptionBudget violations; lowest highest priority of a victim; lowest sum
 * of priorities; fewest victims; latest start of its most important victims.
 */
import type { Candidate, Harm } from "./victims.ts";

/** The first one of equals. */
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
