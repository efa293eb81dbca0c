/** Indexes of an Indexed Job, as its status writes them: `0,3-5,7`, ascending. */
import { goQuote } from "../machinery/json/go-text.ts";

export class IndexesError extends Error {
  override readonly name = "IndexesError";
}

export interface Interval {
  readonly first: number;
  readonly last: number;
}

export function parseIndexes(text: string, completions: number): readonly Interval[] {
  if (text === "") return [];
  const intervals: Interval[] = [];
  let previous: number | undefined;
  for (const fragment of text.split(",")) {
    const [firstText = "", lastText, ...more] = fragment.split("-");
    if (more.length > 0) {
      const rule = "an index interval can have at most two parts separated by '-'";
      throw new IndexesError(`the fragment ${goQuote(fragment)} violates the requirement that ${rule}`);
    }
    const first = readIndex(firstText, completions);
    if (previous !== undefined && first <= previous) throw notRising(previous, first);
    const last = lastText === undefined ? first : readIndex(lastText, completions);
    if (lastText !== undefined && first >= last) throw notRising(first, last);
    intervals.push({ first, last });
    previous = last;
  }
  return intervals;
}

export function countIndexes(intervals: readonly Interval[]): number {
  return intervals.reduce((count, { first, last }) => count + last - first + 1, 0);
}

function readIndex(text: string, completions: number): number {
  if (!/^[+-]?\d+$/.test(text)) throw new IndexesError(`cannot convert string to integer for index: ${goQuote(text)}`);
  const index = Number(text);
  if (index >= completions) throw new IndexesError(`too large index: ${goQuote(text)}`);
  return index;
}

function notRising(previous: number, current: number): IndexesError {
  return new IndexesError(`non-increasing order, previous: ${previous}, current: ${current}`);
}
