/**
 * The timeline of a replay: real time with shortened waits. Between two lines pass at most `LONGEST_MS`, and at least a
 * moment, so that simultaneous lines appear one after the other.
 */
const LONGEST_MS = 600;
const SHORTEST_MS = 30;

export interface Timeline {
  /** When each line appears, in the replay's time. */
  readonly at: readonly number[];
  readonly total: number;
}

export function timeline(lines: readonly { readonly at: number }[]): Timeline {
  const at: number[] = [];
  let total = 0;
  let before: number | undefined;
  for (const line of lines) {
    if (before !== undefined) total += Math.min(LONGEST_MS, Math.max(SHORTEST_MS, line.at - before));
    at.push(total);
    before = before === undefined ? line.at : Math.max(before, line.at);
  }
  return { at, total };
}

/** How many lines have appeared. */
export function appeared({ at }: Timeline, position: number): number {
  let [low, high] = [0, at.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((at[middle] ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}
