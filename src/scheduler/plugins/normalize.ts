/** Normalizes raw scores to 0 … MAX_SCORE. */
import { type FittingNodes, MAX_SCORE, type Scores } from "../framework/index.ts";

/** In proportion to the highest. `reversed`: the lowest becomes the best. */
export function normalizeByHighest(scores: Scores, { indexes, count }: FittingNodes, reversed = false): void {
  let highest = 0;
  for (let at = 0; at < count; at++) {
    const score = scores[indexes[at] ?? 0] ?? 0;
    if (score > highest) highest = score;
  }
  for (let at = 0; at < count; at++) {
    const index = indexes[at] ?? 0;
    const score = highest === 0 ? 0 : Math.trunc((MAX_SCORE * (scores[index] ?? 0)) / highest);
    scores[index] = reversed ? MAX_SCORE - score : score;
  }
}
