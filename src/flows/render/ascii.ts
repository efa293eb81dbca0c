/**
 * A diagram for a terminal: a column for each participant, an arrow for each line, times at the left.
 *
 *        kubectl            apiserver            store
 *     0 ms │  POST deployments   │                 │
 *          │────────────────────►│                 │
 *
 * A text stands on its arrow if it fits, else on the line above.
 */
import type { Arrow, Line } from "../diagram/causal-order.ts";
import type { Diagram } from "../diagram/diagram.ts";

export interface AsciiOptions {
  /** The minimum width of a column. Default: 20. */
  readonly columnWidth?: number;
  /** Repeats the names of the columns after this many lines. Default: never. */
  readonly headsEvery?: number;
}

const TIME_WIDTH = 9;

interface Strokes {
  readonly body: string;
  readonly right: string;
  readonly left: string;
}

const STROKES: Readonly<Record<Exclude<Arrow, "note">, Strokes>> = {
  call: { body: "─", right: "►", left: "◄" },
  answer: { body: "─", right: "►", left: "◄" },
  watch: { body: "-", right: "►", left: "◄" },
  persisted: { body: "═", right: "►", left: "◄" },
};

export function ascii(
  { participants, lines }: Diagram,
  { columnWidth = 20, headsEvery = Infinity }: AsciiOptions = {},
): string {
  const first = lines[0]?.at ?? 0;
  const columns = new Columns(participants, columnWidth);
  const out = [columns.heads()];
  let headsAt = 0;
  let lastTime = "";
  for (const line of lines) {
    const time = timeOf(line.at - first);
    const shown = time === lastTime ? "" : time;
    lastTime = time;
    if (out.length + 1 - headsAt > headsEvery) headsAt = out.push(columns.heads()) - 1;
    for (const [index, row] of rowsOf(line, columns).entries())
      out.push(`${(index === 0 ? shown : "").padStart(TIME_WIDTH - 1)} ${row}`.trimEnd());
  }
  return `${out.join("\n")}\n`;
}

function rowsOf(line: Line, columns: Columns): string[] {
  const words = line.times > 1 ? `${line.text} ×${line.times}` : line.text;
  if (line.arrow === "note" || line.from === line.to) return [columns.beside(line.from, words)];
  const drawn = columns.arrow(line.from, line.to, STROKES[line.arrow], words);
  return (
    drawn ?? [
      columns.beside(leftOf(line, columns), words),
      ...(columns.arrow(line.from, line.to, STROKES[line.arrow], "") ?? []),
    ]
  );
}

function leftOf({ from, to }: Line, columns: Columns): string {
  return columns.at(from) < columns.at(to) ? from : to;
}

export function timeOf(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 100_000 ? `${(ms / 1000).toFixed(2)} s` : `${Math.round(ms / 1000)} s`;
}

class Columns {
  readonly #at = new Map<string, number>();
  readonly #names: readonly string[];
  readonly #width: number;

  constructor(names: readonly string[], minWidth: number) {
    this.#names = names;
    let at = Math.ceil((names[0]?.length ?? 0) / 2);
    for (const [index, name] of names.entries()) {
      this.#at.set(name, at);
      const next = names[index + 1] ?? "";
      at += Math.max(minWidth, Math.ceil((name.length + next.length) / 2) + 2);
    }
    this.#width = at;
  }

  at(name: string): number {
    return this.#at.get(name) ?? 0;
  }

  heads(): string {
    const row = new Array<string>(this.#width + 40).fill(" ");
    for (const name of this.#names) put(row, this.at(name) - Math.floor(name.length / 2), name);
    return `${" ".repeat(TIME_WIDTH)}${row.join("")}`.trimEnd();
  }

  /** A text beside a participant's own line; it may cover other lines. */
  beside(name: string, words: string): string {
    const row = this.#lanes();
    put(row, this.at(name) + 2, words);
    return row.join("");
  }

  /** Undefined if the text does not fit. */
  arrow(from: string, to: string, strokes: Strokes, words: string): string[] | undefined {
    const left = Math.min(this.at(from), this.at(to));
    const right = Math.max(this.at(from), this.at(to));
    const room = right - left - 3;
    if (words.length + 2 > room) return words === "" ? [this.#drawn(from, to, strokes, left, right, "")] : undefined;
    return [this.#drawn(from, to, strokes, left, right, words === "" ? "" : ` ${words} `)];
  }

  #drawn(
    from: string,
    to: string,
    { body, right: end, left: begin }: Strokes,
    left: number,
    right: number,
    words: string,
  ) {
    const row = this.#lanes();
    for (let at = left + 1; at < right; at++) row[at] = body;
    if (this.at(from) < this.at(to)) row[right - 1] = end;
    else row[left + 1] = begin;
    put(row, left + 2 + Math.floor((right - left - 3 - words.length) / 2), words);
    return row.join("");
  }

  #lanes(): string[] {
    const row = new Array<string>(this.#width).fill(" ");
    for (const at of this.#at.values()) row[at] = "│";
    return row;
  }
}

function put(row: string[], at: number, words: string): void {
  for (const [offset, char] of [...words].entries()) row[Math.max(0, at) + offset] = char;
}
