/**
 * Workers on a WorkQueue.
 *
 * 1. Work that succeeds forgets the key's failures; failed work is passed to `onFailure`, which decides whether the key
 *    is retried after its backoff or dropped.
 * 2. It ends when the signal aborts or the queue is closed, after the work under way has ended. Both are no errors.
 * 3. Work that never waits for anything outside still lets the event loop turn now and then.
 */

import { isAbort } from "../system/abort.ts";
import { nextTurn } from "../system/event-loop.ts";
import { TaskGroup } from "../tasks/task-group.ts";
import type { WorkQueue } from "./work-queue.ts";

export interface ProcessOptions<K> {
  /** How many keys may be worked on at once. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly onFailure: (error: unknown, key: K) => "retry" | "drop";
}

const keysPerTurn = 100;

export async function processQueue<K>(
  queue: WorkQueue<K>,
  { concurrency, signal: parent, onFailure }: ProcessOptions<K>,
  work: (key: K, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (!(concurrency >= 1)) throw new RangeError(`at least one worker is needed, got ${concurrency}`);
  const group = new TaskGroup({ parent });
  let handled = 0;

  const attempt = async (key: K, signal: AbortSignal) => {
    try {
      await work(key, signal);
      queue.forget(key);
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      if (onFailure(error, key) === "retry") queue.addRateLimited(key);
      else queue.forget(key);
    }
  };

  const worker = async (signal: AbortSignal) => {
    for await (const key of queue.keys(signal)) {
      await attempt(key, signal);
      if (++handled % keysPerTurn === 0) await nextTurn();
    }
  };

  if (!parent.aborted) for (let i = 0; i < concurrency; i++) group.run(`worker ${i}`, worker);
  await group.done();
}
