/** Sets of NUMA nodes, and upstream's order among them. */

/** All non-empty subsets: those of one node first, then those of two, … */
export function* numaMasks(nodes: readonly number[]): Generator<ReadonlySet<number>> {
  for (let size = 1; size <= nodes.length; size += 1)
    for (const chosen of combinations(nodes, size)) yield new Set(chosen);
}

export function* combinations<T>(from: readonly T[], size: number): Generator<readonly T[]> {
  if (size === 0) {
    yield [];
    return;
  }
  for (const [index, first] of from.entries())
    for (const rest of combinations(from.slice(index + 1), size - 1)) yield [first, ...rest];
}

/** Fewer nodes first; of as many, those with the lower numbers. */
export function isNarrower(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  return a.size === b.size ? maskValue(a) < maskValue(b) : a.size < b.size;
}

function maskValue(mask: ReadonlySet<number>): bigint {
  return [...mask].reduce((value, node) => value | (1n << BigInt(node)), 0n);
}
