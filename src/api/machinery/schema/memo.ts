/** Values that are computed once and kept. */

/**
 * Results for the parts of one schema, shared by the steps of one computation: a definition with defaults or rules at
 * every level would otherwise cost its size times its depth.
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

/** Computed on the first call. */
export function once<T>(make: () => T): () => T {
  let made: T | undefined;
  let isMade = false;
  return () => {
    if (!isMade) {
      made = make();
      isMade = true;
    }
    return made as T;
  };
}

/**
 * Computed on the first call for each key and kept as long as the key lives. Keys must be immutable: schemas and field
 * sets are.
 */
export function onceForEach<Key extends object, Made extends object>(make: (key: Key) => Made): (key: Key) => Made {
  const all = new WeakMap<Key, Made>();
  return (key) => {
    let made = all.get(key);
    if (made === undefined) {
      made = make(key);
      all.set(key, made);
    }
    return made;
  };
}
