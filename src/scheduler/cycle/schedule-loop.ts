/**
 * Takes pods from the queue and tries them, one after the other.
 *
 * 1. Gives way every few pods, so that answers and news are heard while there is much to do.
 * 2. No more than so many bindings are under way at once: beyond that the loop waits for some of them.
 */
import { abortable, nextTurn } from "#base";
import { tryPod } from "./attempts.ts";
import type { Parts } from "./parts.ts";

const PODS_IN_A_TURN = 16;

export interface Beside {
  /** When there is room for one more. */
  room(): Promise<void> | undefined;
}

export async function scheduleLoop(parts: Parts, beside: Beside): Promise<void> {
  const { queue, signal } = parts;
  let turn = 0;
  while (!signal.aborted) {
    const queued = queue.take();
    if (queued === undefined) {
      await abortable(queue.ready(), signal);
      continue;
    }
    await tryPod(parts, queued);
    const room = beside.room();
    if (room !== undefined) await abortable(room, signal);
    turn += 1;
    if (turn % PODS_IN_A_TURN === 0) await nextTurn();
  }
}
