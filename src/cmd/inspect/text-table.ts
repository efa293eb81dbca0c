/** A table for a terminal: columns as wide as their widest cell, three blanks between them. */

export function textTable(rows: readonly (readonly string[])[]): string {
  const [first = []] = rows;
  const widths = first.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("   ");
  return rows.map((row) => `${line(row).trimEnd()}\n`).join("");
}
