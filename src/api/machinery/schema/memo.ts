/**
 * What is made of the parts of one schema, for who makes it for one part after another: a definition with defaults or rules at every level would
 * otherwise cost its size times its depth. A memo lives as long as the work that it is for.
 */
export type Memo<Key, Made> = Map<Key, { readonly made: Made }>;

export function memoized<Key, Made>(memo: Memo<Key, Made> | undefined, key: Key, make: () => Made): Made {
  if (memo === undefined) return make();
  let known = memo.get(key);
  if (known === undefined) {
    known = { made: make() };
    memo.set(key, known);
  }
  return known.made;
}

/** Made when it is first asked for. */
export function once<T>(make: () => T): () => T {
  let known: { readonly made: T } | undefined;
  return () => {
    known ??= { made: make() };
    return known.made;
  };
}
