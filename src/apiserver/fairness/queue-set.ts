/**
 * The queues of a level by index, which exist while they are used; which one a request joins; and how many are busy.
 */
import { Queue } from "./queue.ts";

export class QueueSet {
  readonly #queues = new Map<number, Queue>();
  /** Queues with an index of this and above are surplus. */
  #count = 0;
  #chosen = 0;
  #busy = 0;

  /** Queues with a request that waits or is executed. */
  get busy(): number {
    return this.#busy;
  }

  get sorted(): readonly Queue[] {
    return [...this.#queues.values()].sort((a, b) => a.index - b.index);
  }

  setCount(count: number): void {
    this.#count = count;
    for (const queue of this.#queues.values()) this.#removeIfSurplus(queue);
  }

  /** The queue with the least waiting work; where there are several, each call starts with the next one of the hand. */
  choose(hand: readonly number[]): Queue {
    const offset = this.#chosen++;
    let best: Queue | undefined;
    for (let i = 0; i < hand.length; i++) {
      const queue = this.#queue(hand[(offset + i) % hand.length] ?? 0);
      if (best === undefined || queue.waitingWork < best.waitingWork) best = queue;
      if (best.waitingWork === 0) return best;
    }
    return best ?? this.#queue(0);
  }

  occupy(queue: Queue): void {
    if (queue.isBusy) return;
    queue.isBusy = true;
    this.#busy++;
  }

  vacateIfIdle(queue: Queue): void {
    if (!queue.isIdle) return;
    if (queue.isBusy) this.#busy--;
    queue.isBusy = false;
    this.#removeIfSurplus(queue);
  }

  #queue(index: number): Queue {
    const existing = this.#queues.get(index);
    if (existing !== undefined) return existing;
    const queue = new Queue(index);
    this.#queues.set(index, queue);
    return queue;
  }

  #removeIfSurplus(queue: Queue): void {
    if (queue.index >= this.#count && queue.isIdle && queue.seatsInUse === 0) this.#queues.delete(queue.index);
  }
}
