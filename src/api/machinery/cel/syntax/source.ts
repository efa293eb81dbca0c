/**
 * Positions in an expression, and how issues are shown to users:
 *
 *     ERROR: <input>:1:6: undefined field 'b'
 *      | self.b == 1
 *      | ....^
 */

/** A fault of an expression. Without an offset it concerns the whole. */
export interface Issue {
  readonly message: string;
  /** In UTF-16 code units of the text. */
  readonly offset: number | undefined;
}

const maxIssues = 100;

/** Sorted by position; those without one come first. */
export function formatIssues(text: string, issues: readonly Issue[]): string {
  const sorted = issues.toSorted((a, b) => (a.offset ?? -1) - (b.offset ?? -1));
  const shown = sorted.slice(0, maxIssues).map((issue) => formatIssue(text, issue));
  if (sorted.length > maxIssues) shown.push(`${sorted.length - maxIssues} more errors were truncated`);
  return shown.join("\n");
}

function formatIssue(text: string, { message, offset }: Issue): string {
  if (offset === undefined) return `ERROR: <input>:-1:0: ${message}`;
  // There is no line to show.
  if (text === "") return `ERROR: <input>:1:0: ${message}`;
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  const line = before.split("\n").length;
  const column = [...text.slice(lineStart, offset)].length;
  const lineEnd = text.indexOf("\n", lineStart);
  const snippet = text.slice(lineStart, lineEnd === -1 ? text.length : lineEnd).replaceAll("\t", " ");
  const points = [...snippet];
  const dots = points.slice(0, column).map((point) => (isWide(point) ? "．" : "."));
  const caret = isWide(points[column] ?? " ") ? "＾" : "^";
  return `ERROR: <input>:${line}:${column + 1}: ${message}\n | ${snippet}\n | ${dots.join("")}${caret}`;
}

function isWide(point: string): boolean {
  return (point.codePointAt(0) ?? 0) > 0x7f;
}
