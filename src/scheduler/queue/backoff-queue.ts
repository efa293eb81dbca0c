/**
 * Pods that back off after a failed attempt.
 *
 * 1. A rejected pod may be taken before its backoff ends; a pod whose attempt failed with an error waits to the end.
 * 2. Backoffs of rejected pods end at whole seconds: of those that end together, the queue sort decides who is first.
 */
import { Heap, type HeapEntry } from "#base";
import type { Queued } from "../framework/index.ts";
import type { QueuedPod } from "./queued-pod.ts";

const STEP_MS = 1000;

export interface BackoffQueueOptions {
  readonly initialBackoffMs: number;
  readonly maxBackoffMs: number;
  readonly queueSort: (a: Queued, b: Queued) => boolean;
}

export class BackoffQueue {
  readonly #options: BackoffQueueOptions;
  readonly #rejected: Heap<QueuedPod>;
  readonly #failed = new Heap<QueuedPod>((a, b) => a.backoffUntilMs < b.backoffUntilMs);

  constructor(options: BackoffQueueOptions) {
    this.#options = options;
    this.#rejected = new Heap<QueuedPod>((a, b) =>
      a.backoffUntilMs === b.backoffUntilMs ? options.queueSort(a, b) : a.backoffUntilMs < b.backoffUntilMs,
    );
  }

  get size(): number {
    return this.#rejected.size + this.#failed.size;
  }

  get hasTakeable(): boolean {
    return this.#rejected.size > 0;
  }

  /** When the next backoff ends; infinite if no pod backs off. */
  get nextEndMs(): number {
    return Math.min(endOf(this.#rejected), endOf(this.#failed));
  }

  push(queued: QueuedPod): HeapEntry<QueuedPod> {
    return (queued.errorCount > 0 ? this.#failed : this.#rejected).push(queued);
  }

  remove(entry: HeapEntry<QueuedPod>): boolean {
    return this.#rejected.remove(entry) || this.#failed.remove(entry);
  }

  /** The first rejected pod, whether its backoff has ended or not. */
  takeEarly(): QueuedPod | undefined {
    return this.#rejected.pop();
  }

  /** A pod whose backoff has ended; it stays in the queue. */
  ended(nowMs: number): QueuedPod | undefined {
    for (const heap of [this.#rejected, this.#failed]) if (endOf(heap) <= nowMs) return heap.peek();
    return undefined;
  }

  /** When the backoff of a pod ends that has just failed. */
  endFor({ addedMs, rejectedCount, errorCount }: QueuedPod): number {
    const { initialBackoffMs, maxBackoffMs } = this.#options;
    const attempts = Math.max(1, errorCount > 0 ? errorCount : rejectedCount);
    const end = addedMs + Math.min(maxBackoffMs, initialBackoffMs * 2 ** (attempts - 1));
    return errorCount > 0 ? end : Math.ceil(end / STEP_MS) * STEP_MS;
  }
}

function endOf(heap: Heap<QueuedPod>): number {
  return heap.peek()?.backoffUntilMs ?? Number.POSITIVE_INFINITY;
}
