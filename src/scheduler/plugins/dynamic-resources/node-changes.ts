/** Which nodes' devices have changed, so that results by node are computed again only for those. */

/** Beyond this many changes, those that look back further compute everything again. */
const KEPT = 20_000;

export class NodeChanges {
  #names: string[] = [];
  /** The number of changes that are no longer kept. */
  #dropped = 0;

  get count(): number {
    return this.#dropped + this.#names.length;
  }

  note(node: string): void {
    if (this.#names.length >= KEPT) this.noteAll();
    this.#names.push(node);
  }

  /** Every node may have changed. */
  noteAll(): void {
    this.#dropped += this.#names.length + 1;
    this.#names = [];
  }

  /** Names since then, possibly repeated; undefined if every node may have changed. */
  since(count: number): readonly string[] | undefined {
    return count < this.#dropped ? undefined : this.#names.slice(count - this.#dropped);
  }
}
