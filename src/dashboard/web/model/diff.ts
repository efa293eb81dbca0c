/** The shortest line diff of two texts. */
export interface DiffLine {
  readonly sign: " " | "+" | "-";
  readonly text: string;
}

export function diff(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ sign: " ", text }));
  const middle = between(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return [...same(a.slice(0, start)), ...middle, ...same(a.slice(a.length - end))];
}

/** By the longest common subsequence: texts are short after equal lines at both ends are removed. */
function between(a: readonly string[], b: readonly string[]): DiffLine[] {
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [old, fresh] = [a[i], b[j]];
    if (old !== undefined && old === fresh) {
      lines.push({ sign: " ", text: old });
      i += 1;
      j += 1;
    } else if (old !== undefined && (fresh === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ sign: "-", text: old });
      i += 1;
    } else if (fresh !== undefined) {
      lines.push({ sign: "+", text: fresh });
      j += 1;
    }
  }
  return lines;
}

export type Shown = DiffLine | { readonly sign: "…"; readonly text: string };

/** Changes with a few lines of context; the rest as a count. */
export function around(lines: readonly DiffLine[], context = 3): Shown[] {
  const near = lines.map((_, at) =>
    lines.slice(Math.max(0, at - context), at + context + 1).some(({ sign }) => sign !== " "),
  );
  const shown: Shown[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    if (line !== undefined && near[at]) {
      shown.push(line);
      at += 1;
      continue;
    }
    let end = at;
    while (end < lines.length && !near[end]) end += 1;
    shown.push({ sign: "…", text: `${end - at} unchanged ${end - at === 1 ? "line" : "lines"}` });
    at = end;
  }
  return shown;
}

/** A line of two texts side by side; undefined: nothing on this side. */
export interface Pair {
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly isChanged: boolean;
}

/** What was removed stands beside what was added in its place. Unchanged lines far from changes are a count. */
export function beside(lines: readonly DiffLine[]): Pair[] {
  const pairs: Pair[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++)
      pairs.push({ before: removed[at], after: added[at], isChanged: true });
    removed = [];
    added = [];
  };
  for (const { sign, text } of around(lines)) {
    if (sign === "-") removed.push(text);
    else if (sign === "+") added.push(text);
    else {
      flush();
      const words = sign === "…" ? `… ${text}` : text;
      pairs.push({ before: words, after: words, isChanged: false });
    }
  }
  flush();
  return pairs;
}
