/** Property names as CEL identifiers: `x-y` is `x__dash__y`, and `namespace` is `__namespace__`. */

const reserved = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);
const sequences: ReadonlyMap<string, string> = new Map([
  ["__", "__underscores__"],
  [".", "__dot__"],
  ["-", "__dash__"],
  ["/", "__slash__"],
]);
const meanings: ReadonlyMap<string, string> = new Map([...sequences].map(([text, sequence]) => [sequence, text]));

/** Reserved words, which cannot be variables. After a dot they may be written escaped or not. */
export function isReserved(word: string): boolean {
  return reserved.has(word);
}

/** Undefined if the name cannot be written in CEL. */
export function escapeName(name: string): string | undefined {
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  if (reserved.has(name)) return `__${name}__`;
  return name.replace(/__|[-./]/g, (found) => sequences.get(found) ?? found);
}

/** Undefined for an invalid escape sequence. */
export function unescapeName(escaped: string): string | undefined {
  let valid = true;
  const name = escaped.replace(/__[^_]+__/g, (sequence) => {
    const meaning = meanings.get(sequence);
    if (meaning !== undefined) return meaning;
    const word = sequence.slice(2, -2);
    if (!reserved.has(word) || sequence.length !== escaped.length) valid = false;
    return word;
  });
  return valid ? name : undefined;
}
