/**
 * Whether the reads and writes of one object can have happened one after the other, each at one moment between its
 * request and its answer.
 *
 * Revisions grow with each write, so the order of the operations is known: by revision, a write before the reads of
 * what it wrote. It remains to see that no operation ended before another began that comes before it in this order.
 * (For a register with versions that is the whole of linearizability; a test compares it with trying all orders.)
 */
export interface Operation {
  readonly kind: "read" | "write";
  /** Read: what it saw. Write: what it made; one that changed nothing says what it found. */
  readonly revision: number;
  /** Its request. */
  readonly from: number;
  /** Its answer, after the request. */
  readonly to: number;
}

/** What cannot be explained, in words; undefined: nothing. */
export function firstAnomaly(operations: readonly Operation[]): string | undefined {
  const ended = [...operations].sort((a, b) => a.to - b.to);
  let at = 0;
  let newest: Operation | undefined;
  for (const operation of [...operations].sort((a, b) => a.from - b.from)) {
    for (let next = ended[at]; next !== undefined && next.to < operation.from; next = ended[++at])
      if (newest === undefined || next.revision > newest.revision) newest = next;
    if (newest !== undefined && operation.revision < newest.revision)
      return `a ${operation.kind} got revision ${operation.revision} after a ${newest.kind} of revision ${newest.revision} had ended`;
  }
  const writes = operations.filter(({ kind }) => kind === "write");
  for (const read of operations) {
    const write = read.kind === "read" ? writes.find(({ revision }) => revision === read.revision) : undefined;
    if (write !== undefined && read.to < write.from)
      return `a read saw revision ${read.revision} before its write was asked for`;
  }
  return undefined;
}
