/**
 * The difference of two values as a unified diff of their JSON.
 *
 * 1. Common blocks are found as Ratcliff and Obershelp do: the longest common run of lines first, then left and right
 *    of it. This is not the shortest difference, but the one that Kubernetes prints.
 * 2. In long texts, lines that make up more than a hundredth of the text start no run: brackets are too common.
 * 3. The search takes the square of a long text that differs everywhere. It ends after a number of steps, and what has
 *    not been searched by then is one difference.
 */
import type { Json } from "./json.ts";
import { writeJson } from "./write-json.ts";

const contextLines = 3;
const longText = 200;
/** About 100 ms. A step is a pair of equal lines, or a line without any. */
const maxSteps = 2_000_000;
/** Go escapes these so that JSON is safe in HTML. */
const htmlUnsafe = /[<>&\u2028\u2029]/g;

export function jsonDiff(before: Json, after: Json): string {
  const a = lines(before);
  const b = lines(after);
  return hunks(changes(a, b))
    .map((hunk) => written(hunk, a, b))
    .join("");
}

function lines(value: Json): readonly string[] {
  const text = writeJson(value, 1).replace(
    htmlUnsafe,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return text.split("\n").map((line) => `${line}\n`);
}

interface Run {
  readonly a: number;
  readonly b: number;
  readonly size: number;
}

/** Lines `a1` to `a2` of one text are lines `b1` to `b2` of the other. */
interface Part {
  readonly same: boolean;
  readonly a1: number;
  readonly a2: number;
  readonly b1: number;
  readonly b2: number;
}

function changes(a: readonly string[], b: readonly string[]): readonly Part[] {
  const parts: Part[] = [];
  let i = 0;
  let j = 0;
  for (const run of [...runs(a, b), { a: a.length, b: b.length, size: 0 }]) {
    if (i < run.a || j < run.b) parts.push({ same: false, a1: i, a2: run.a, b1: j, b2: run.b });
    i = run.a + run.size;
    j = run.b + run.size;
    if (run.size > 0) parts.push({ same: true, a1: run.a, a2: i, b1: run.b, b2: j });
  }
  return parts;
}

/** All common runs, in order, with neighbours joined. */
function runs(a: readonly string[], b: readonly string[]): readonly Run[] {
  const places = placesOf(b);
  const found: Run[] = [];
  const search = { stepsLeft: maxSteps };
  const pending: [number, number, number, number][] = [[0, a.length, 0, b.length]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [a1, a2, b1, b2] = next;
    const run = longestRun(a, b, places, next, search);
    if (run.size === 0) continue;
    found.push(run);
    if (a1 < run.a && b1 < run.b) pending.push([a1, run.a, b1, run.b]);
    if (run.a + run.size < a2 && run.b + run.size < b2) pending.push([run.a + run.size, a2, run.b + run.size, b2]);
  }
  found.sort((x, y) => x.a - y.a || x.b - y.b);
  return found.reduce<Run[]>((joined, run) => {
    const last = joined.at(-1);
    if (last !== undefined && last.a + last.size === run.a && last.b + last.size === run.b) {
      joined[joined.length - 1] = { ...last, size: last.size + run.size };
    } else joined.push(run);
    return joined;
  }, []);
}

function placesOf(b: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const [j, line] of b.entries()) {
    const known = places.get(line);
    if (known === undefined) places.set(line, [j]);
    else known.push(j);
  }
  if (b.length >= longText) {
    const most = Math.floor(b.length / 100) + 1;
    for (const [line, at] of places) if (at.length > most) places.delete(line);
  }
  return places;
}

function longestRun(
  a: readonly string[],
  b: readonly string[],
  places: ReadonlyMap<string, readonly number[]>,
  [a1, a2, b1, b2]: readonly [number, number, number, number],
  search: { stepsLeft: number },
): Run {
  let best: Run = { a: a1, b: b1, size: 0 };
  let lengths = new Map<number, number>();
  for (let i = a1; i < a2; i++) {
    const ending = new Map<number, number>();
    const equal = places.get(a[i] ?? "") ?? [];
    search.stepsLeft -= 1 + equal.length;
    if (search.stepsLeft < 0) return { a: a1, b: b1, size: 0 };
    for (const j of equal) {
      if (j < b1) continue;
      if (j >= b2) break;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      ending.set(j, size);
      if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size };
    }
    lengths = ending;
  }
  return widened(best, a, b, [a1, a2, b1, b2]);
}

/** Extends a run by equal lines beside it that are too common to start one. */
function widened(
  { a: i, b: j, size }: Run,
  a: readonly string[],
  b: readonly string[],
  [a1, a2, b1, b2]: readonly [number, number, number, number],
): Run {
  while (i > a1 && j > b1 && a[i - 1] === b[j - 1]) {
    i--;
    j--;
    size++;
  }
  while (i + size < a2 && j + size < b2 && a[i + size] === b[j + size]) size++;
  return { a: i, b: j, size };
}

/** Groups changes that are near to each other into one hunk. */
function hunks(parts: readonly Part[]): readonly (readonly Part[])[] {
  const all: Part[][] = [];
  let current: Part[] = [];
  for (const [index, part] of parts.entries()) {
    if (!part.same) {
      current.push(part);
      continue;
    }
    const isFirst = index === 0;
    const isLast = index === parts.length - 1;
    const head = {
      ...part,
      a2: Math.min(part.a2, part.a1 + contextLines),
      b2: Math.min(part.b2, part.b1 + contextLines),
    };
    const tail = {
      ...part,
      a1: Math.max(part.a1, part.a2 - contextLines),
      b1: Math.max(part.b1, part.b2 - contextLines),
    };
    if (isFirst) current.push(tail);
    else if (isLast) current.push(head);
    else if (part.a2 - part.a1 > 2 * contextLines) {
      all.push([...current, head]);
      current = [tail];
    } else current.push(part);
  }
  return [...all, current].filter((hunk) => hunk.some(({ same }) => !same));
}

function written(hunk: readonly Part[], a: readonly string[], b: readonly string[]): string {
  const first = hunk[0];
  const last = hunk.at(-1);
  if (first === undefined || last === undefined) return "";
  let text = `@@ -${range(first.a1, last.a2)} +${range(first.b1, last.b2)} @@\n`;
  for (const { same, a1, a2, b1, b2 } of hunk) {
    if (same)
      text += a
        .slice(a1, a2)
        .map((line) => ` ${line}`)
        .join("");
    else {
      text += a
        .slice(a1, a2)
        .map((line) => `-${line}`)
        .join("");
      text += b
        .slice(b1, b2)
        .map((line) => `+${line}`)
        .join("");
    }
  }
  return text;
}

function range(start: number, end: number): string {
  const length = end - start;
  if (length === 1) return `${start + 1}`;
  return `${length === 0 ? start : start + 1},${length}`;
}
