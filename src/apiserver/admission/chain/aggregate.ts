/** Joins faults as Kubernetes does: one as it is, several in brackets, duplicates removed. */
export function aggregate(faults: readonly string[]): string {
  const distinct = [...new Set(faults)];
  return distinct.length === 1 ? (distinct[0] ?? "") : `[${distinct.join(", ")}]`;
}
