/**
 * Sets of completion indexes in the format of a Job's status: `0,3-5,7`.
 *
 * 1. A set is an ascending list of intervals with gaps between them: its size depends on the gaps, not on the indexes.
 */

export type Indexes = readonly Interval[];

interface Interval {
  readonly first: number;
  readonly last: number;
}

/** Invalid intervals are ignored, and indexes beyond `completions` are cut off: the Job may have been scaled down. */
export function readIndexes(text: string, completions: number): Indexes {
  const intervals = text.split(",").flatMap((part): Interval[] => {
    const found = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (found === null) return [];
    const first = Number(found[1]);
    const last = Math.min(Number(found[2] ?? found[1]), completions - 1);
    return first <= last ? [{ first, last }] : [];
  });
  return union(intervals, []);
}

/** Two neighbours are written separately, three as an interval. */
export function writeIndexes(indexes: Indexes): string {
  return indexes
    .map(({ first, last }) => {
      if (first === last) return String(first);
      return last === first + 1 ? `${first},${last}` : `${first}-${last}`;
    })
    .join(",");
}

export function indexesOf(numbers: Iterable<number>): Indexes {
  return union(
    [...numbers].map((index) => ({ first: index, last: index })),
    [],
  );
}

export function union(a: readonly Interval[], b: readonly Interval[]): Indexes {
  const merged: Interval[] = [];
  for (const next of [...a, ...b].sort((x, y) => x.first - y.first)) {
    const before = merged.at(-1);
    if (before === undefined || next.first > before.last + 1) merged.push(next);
    else if (next.last > before.last) merged[merged.length - 1] = { first: before.first, last: next.last };
  }
  return merged;
}

export function countIndexes(indexes: Indexes): number {
  return indexes.reduce((count, { first, last }) => count + last - first + 1, 0);
}

export function hasIndex(indexes: Indexes, index: number): boolean {
  let [low, high] = [0, indexes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((indexes[middle]?.last ?? 0) < index) low = middle + 1;
    else high = middle;
  }
  const found = indexes[low];
  return found !== undefined && found.first <= index;
}

/** The size of the intersection. */
export function countShared(a: Indexes, b: Indexes): number {
  let shared = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const one = a[i];
    const other = b[j];
    if (one === undefined || other === undefined) break;
    shared += Math.max(0, Math.min(one.last, other.last) - Math.max(one.first, other.first) + 1);
    if (one.last <= other.last) i++;
    if (other.last <= one.last) j++;
  }
  return shared;
}

/** The first `count` indexes below `completions` that are not in the set. */
export function firstMissing(indexes: Indexes, count: number, completions: number): readonly number[] {
  const missing: number[] = [];
  let candidate = 0;
  for (const { first, last } of [...indexes, { first: completions, last: completions }]) {
    for (; candidate < first && missing.length < count; candidate++) missing.push(candidate);
    candidate = Math.max(candidate, last + 1);
  }
  return missing;
}
