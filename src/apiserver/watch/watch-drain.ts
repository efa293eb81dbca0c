/**
 * Ends the open watches of a server that shuts down, spread over a time: all clients at once would be too much for the
 * server that they find instead.
 *
 * 1. After the time, every watch has ended. Watches that begin later end at once.
 */
import { Chain, type Clock, Link } from "#base";

const STEP_MS = 25;

export class WatchDrain {
  readonly #open = new Chain<Link<() => void>>();
  #isOver = false;

  /** Calls `end` when it is this watch's turn. The returned function unregisters. */
  add(end: () => void): () => void {
    if (this.#isOver) {
      end();
      return () => {};
    }
    const link = new Link(end);
    this.#open.add(link);
    return () => this.#open.delete(link);
  }

  async drain(graceMs: number, clock: Clock): Promise<void> {
    const steps = Math.max(1, Math.ceil(graceMs / STEP_MS));
    const total = this.#open.size;
    let ended = 0;
    for (let step = 1; step <= steps && this.#open.size > 0; step++) {
      const due = Math.ceil((total * step) / steps) - ended;
      this.#end(due);
      ended += due;
      if (this.#open.size > 0) await clock.sleep(graceMs / steps);
    }
    this.#isOver = true;
    this.#end(this.#open.size);
  }

  #end(count: number): void {
    for (let left = count; left > 0; left--) {
      const { first } = this.#open;
      if (first === undefined) return;
      this.#open.delete(first);
      first.value();
    }
  }
}
