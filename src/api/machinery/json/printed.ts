/**
 * How much of many faults is printed. A fault may show a whole list, and stand at a path as long as a request: as many
 * of them as the request has parts would be its square. Kubernetes prints them all.
 */

/** In characters: about the size of the largest request. */
export const MAX_PRINTED = 3 * 1024 * 1024;

/** The first of the texts, up to that length in all; at least one. */
export function printable(texts: readonly string[]): readonly string[] {
  let printed = 0;
  for (const [at, { length }] of texts.entries()) {
    printed += length;
    if (printed > MAX_PRINTED) return texts.slice(0, Math.max(at, 1));
  }
  return texts;
}
