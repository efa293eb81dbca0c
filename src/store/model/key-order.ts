/**
 * Keys sort by their UTF-8 bytes. JavaScript compares strings by UTF-16 code units, which is the same order except that
 * characters beyond U+FFFF (surrogate pairs, from 0xD800) come before U+E000 … U+FFFF instead of after them.
 *
 * 1. `sortKey` swaps these two ranges, unit by unit: plain `<` on sort keys is byte order on keys.
 * 2. It keeps prefixes: one key starts with another exactly if their sort keys do.
 */

const OUT_OF_ORDER = /[\ud800-\uffff]/;

export function sortKey(key: string): string {
  // Nearly all keys are ASCII, and are their own sort keys.
  return OUT_OF_ORDER.test(key) ? reordered(key) : key;
}

export function compareKeys(a: string, b: string): number {
  const left = sortKey(a);
  const right = sortKey(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

export interface SortKeyRange {
  readonly from: string;
  /** Absent: to the end. */
  readonly before?: string;
}

/** The sort keys of all keys with this prefix. */
export function prefixRange(prefix: string): SortKeyRange {
  const from = sortKey(prefix);
  // The first string after all that start with `from`: increment its last unit that is not the maximum.
  for (let end = from.length; end > 0; end--) {
    const unit = from.charCodeAt(end - 1);
    if (unit < 0xffff) return { from, before: from.slice(0, end - 1) + String.fromCharCode(unit + 1) };
  }
  return { from };
}

function reordered(key: string): string {
  let text = "";
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i);
    text += String.fromCharCode(unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800);
  }
  return text;
}
