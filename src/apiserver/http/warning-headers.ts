/**
 * The `Warning` headers of an answer.
 *
 * 1. Each text once. All of them together stay below what clients take for headers: where they would not, each is cut,
 *    and what still does not fit is left out.
 */
const MAX_TOTAL = 4 * 1024;
const MAX_CUT = 256;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get into a header
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

export function warningHeaders(warnings: Iterable<string>): readonly string[] {
  const texts = [...new Set(warnings)].filter((text) => text !== "" && !CONTROL.test(text));
  const lengths = texts.map((text) => [...text].length);
  const fits = lengths.reduce((sum, length) => sum + length, 0) <= MAX_TOTAL;
  if (fits) return texts.map(header);
  const cut: string[] = [];
  let written = 0;
  for (const text of texts) {
    if (written >= MAX_TOTAL) break;
    const points = [...text].slice(0, MAX_CUT);
    written += points.length;
    cut.push(header(points.join("")));
  }
  return cut;
}

function header(text: string): string {
  return `299 - "${text.replace(/["\\]/g, "\\$&")}"`;
}
