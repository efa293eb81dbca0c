/**
 * Events that arrive while pods are in flight, so that none is missed between an attempt's view of the cluster and the
 * pod's return to the queue.
 *
 * 1. An event is kept while a pod is in flight that was in flight when it arrived.
 */
import type { ClusterEvent } from "../framework/index.ts";

const COMPACT_AT = 1024;

export class InFlight {
  /** By uid: the number of events before the attempt began; the oldest attempt first. */
  readonly #began = new Map<string, number>();
  #events: ClusterEvent[] = [];
  /** Number of events that were dropped. */
  #dropped = 0;

  get size(): number {
    return this.#began.size;
  }

  begin(uid: string): void {
    this.#began.delete(uid);
    this.#began.set(uid, this.#dropped + this.#events.length);
  }

  has(uid: string): boolean {
    return this.#began.has(uid);
  }

  record(event: ClusterEvent): void {
    if (this.#began.size > 0) this.#events.push(event);
  }

  /** The events since the pod's attempt began. */
  since(uid: string): readonly ClusterEvent[] {
    const began = this.#began.get(uid);
    return began === undefined ? [] : this.#events.slice(Math.max(0, began - this.#dropped));
  }

  end(uid: string): void {
    this.#began.delete(uid);
    if (this.#began.size === 0) {
      this.#dropped += this.#events.length;
      this.#events = [];
      return;
    }
    const [oldest = 0] = this.#began.values();
    if (oldest - this.#dropped < COMPACT_AT) return;
    this.#events = this.#events.slice(oldest - this.#dropped);
    this.#dropped = oldest;
  }
}
