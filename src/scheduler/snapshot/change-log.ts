/** Which nodes have changed lately, so that who has looked before need not look at all of them again. */
const KEPT = 4096;

export class ChangeLog {
  readonly #nodes = new Int32Array(KEPT);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(node: number): void {
    this.#nodes[this.#count % KEPT] = node;
    this.#count += 1;
  }

  /** Undefined: some of them are no longer known. */
  since(count: number): Int32Array | undefined {
    const missed = this.#count - count;
    if (missed > KEPT) return undefined;
    const from = count % KEPT;
    if (from + missed <= KEPT) return this.#nodes.subarray(from, from + missed);
    const found = new Int32Array(missed);
    found.set(this.#nodes.subarray(from));
    found.set(this.#nodes.subarray(0, missed - (KEPT - from)), KEPT - from);
    return found;
  }
}
