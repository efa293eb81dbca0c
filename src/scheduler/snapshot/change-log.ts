/** The nodes that changed recently, so that a memo updates those and not all nodes. */
const CAPACITY = 4096;

export class ChangeLog {
  readonly #nodes = new Int32Array(CAPACITY);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(node: number): void {
    this.#nodes[this.#count % CAPACITY] = node;
    this.#count += 1;
  }

  /** Undefined if the log does not reach back that far. */
  since(count: number): Int32Array | undefined {
    const missed = this.#count - count;
    if (missed > CAPACITY) return undefined;
    const from = count % CAPACITY;
    if (from + missed <= CAPACITY) return this.#nodes.subarray(from, from + missed);
    const found = new Int32Array(missed);
    found.set(this.#nodes.subarray(from));
    found.set(this.#nodes.subarray(0, missed - (CAPACITY - from)), CAPACITY - from);
    return found;
  }
}
