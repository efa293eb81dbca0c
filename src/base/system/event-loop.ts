/** The event loop's turns: giving way to other work is not a matter of time, so it needs no Clock. */

// Taken when the module loads: tests that replace the global timers must not stop the loop's own turns.
import { setImmediate as atNextTurn } from "node:timers";

/** Resolves in the next turn of the event loop, after everything that is ready now has run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    atNextTurn(resolve);
  });
}

/**
 * Gives way until no promise chain and no setImmediate callback is left to run. Sockets, files and threads are not
 * waited for. Work that goes on for more than `maxTurns` turns is left to itself.
 */
export async function settled(maxTurns = 1000): Promise<void> {
  for (let turn = 0; turn < maxTurns; turn++) {
    await nextTurn();
    if (!process.getActiveResourcesInfo().includes("Immediate")) return;
  }
}
