/**
 * Search of a string in another in linear time: the engine's own search takes the product of both lengths for some
 * inputs, and expressions run on untrusted input.
 */

/** Below this, the engine's own search is fast even at its worst. */
const short = 64;

export function indexOf(text: string, needle: string, from = 0): number {
  if (needle.length <= short) return text.indexOf(needle, from);
  return find(
    text.length,
    from,
    needle.length,
    (i) => text.charCodeAt(i),
    (i) => needle.charCodeAt(i),
  );
}

/** The last position at or before `from`. */
export function lastIndexOf(text: string, needle: string, from = text.length): number {
  if (needle.length <= short) return text.lastIndexOf(needle, from);
  // Both are reversed: the last position is then the first.
  const end = Math.min(text.length, from + needle.length);
  const found = find(
    end,
    0,
    needle.length,
    (i) => text.charCodeAt(end - 1 - i),
    (i) => needle.charCodeAt(needle.length - 1 - i),
  );
  return found < 0 ? -1 : end - found - needle.length;
}

/** Positions that do not overlap, at most `limit`. */
export function* places(text: string, needle: string, limit = Number.POSITIVE_INFINITY): Generator<number> {
  let at = indexOf(text, needle);
  for (let count = 0; at >= 0 && count < limit; count++) {
    yield at;
    at = indexOf(text, needle, at + needle.length);
  }
}

type Reader = (index: number) => number;

/**
 * Knuth, Morris and Pratt: `borders[i]` is how much of the needle still matches when its first i + 1 characters match
 * and the next one does not.
 */
function find(length: number, from: number, needleLength: number, text: Reader, needle: Reader): number {
  const borders = new Int32Array(needleLength);
  const advance = (matched: number, char: number): number => {
    let next = matched;
    while (next > 0 && needle(next) !== char) next = borders[next - 1] ?? 0;
    return needle(next) === char ? next + 1 : next;
  };
  for (let i = 1; i < needleLength; i++) borders[i] = advance(borders[i - 1] ?? 0, needle(i));
  let matched = 0;
  for (let i = from; i < length; i++) {
    matched = advance(matched, text(i));
    if (matched === needleLength) return i + 1 - needleLength;
  }
  return -1;
}
