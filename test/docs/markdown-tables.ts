/** The tables of a Markdown page. */
export interface MarkdownTable {
  /** The first cell of its head, in lower case. */
  readonly subject: string;
  /** The line of its head, counted from 1. */
  readonly line: number;
  /** The cells of each row. */
  readonly rows: readonly (readonly string[])[];
}

export function tablesIn(text: string): MarkdownTable[] {
  const lines = text.split("\n");
  const tables: MarkdownTable[] = [];
  for (let at = 0; at < lines.length; at++) {
    if (!isRow(lines[at]) || !/^\|[\s:|-]+\|$/.test(lines[at + 1]?.trim() ?? "")) continue;
    const line = at + 1;
    const [subject = ""] = cellsOf(lines[at] ?? "");
    const rows: string[][] = [];
    for (at += 2; isRow(lines[at]); at++) rows.push(cellsOf(lines[at] ?? ""));
    tables.push({ subject: subject.toLowerCase(), line, rows });
  }
  return tables;
}

/** The paths that a cell names: the targets of its links, else its code spans, else its words. */
export function pathsIn(cell: string): string[] {
  const links = [...cell.matchAll(/\]\(([^)#]+)\)/g)].map(([, path = ""]) => path);
  if (links.length > 0) return links;
  const spans = [...cell.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path);
  return spans.length > 0 ? spans : cell.split(/,\s*|\s+/).filter((word) => word !== "");
}

function isRow(line: string | undefined): boolean {
  return line?.startsWith("|") ?? false;
}

function cellsOf(line: string): string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());
}
