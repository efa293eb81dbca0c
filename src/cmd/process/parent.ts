/**
 * Ends with the parent process, also when that is killed: programs that tests start must not outlive them.
 *
 * 1. The parent is looked at, again and again: nothing tells a process of its end.
 */
import type { Clock } from "#base";

const LOOK_MS = 200;

/** Resolves when the parent has ended; never if the signal aborts before. */
export async function parentEnded(clock: Clock, signal: AbortSignal): Promise<boolean> {
  const { ppid: parent } = process;
  try {
    while (process.ppid === parent) await clock.sleep(LOOK_MS, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
