/**
 * The process that crash.test.ts kills: several writers on keys of their own, each acknowledged write reported at once.
 *
 *     node crash-writer.ts DIR ROUND        ──► one line of JSON for each acknowledgement on standard output
 */

import { writeSync } from "node:fs";
import { nextTurn, realClock, seededRandom } from "#base";
import type { Store } from "../../model/store.ts";
import { openEmbeddedStore } from "../open.ts";

export interface Acknowledged {
  readonly key: string;
  readonly revision: number;
  /** Null: the key was deleted. */
  readonly text: string | null;
}

export const WRITERS = 16;
const KEYS_OF_A_WRITER = 5;

if (import.meta.main) {
  const [, , dir = "", round = ""] = process.argv;
  const store = await openEmbeddedStore({ dir, clock: realClock() });
  await Promise.all([compact(store), ...Array.from({ length: WRITERS }, (_, i) => write(store, i, round))]);
}

/** Never ends: the process is killed. */
async function write(store: Store, writer: number, round: string): Promise<void> {
  const random = seededRandom(Number(round) * 1000 + writer);
  for (let step = 0; ; step++) {
    const key = `/crash/${writer}/${random.integer(KEYS_OF_A_WRITER)}`;
    const current = await store.get(key);
    const text = `${round}.${step} `.repeat(1 + random.integer(500));
    const erase = current !== undefined && random.next() < 0.3;
    const outcome =
      current === undefined
        ? await store.create(key, Buffer.from(text))
        : erase
          ? await store.delete(key, current.revision)
          : await store.update(key, Buffer.from(text), current.revision);
    if (!outcome.ok) throw new Error(`${key} has one writer, and yet a write was refused.`);
    const acknowledged: Acknowledged = { key, revision: outcome.revision, text: erase ? null : text };
    // Written by the system call itself: nothing is left in a buffer of this process when it dies.
    writeSync(1, `${JSON.stringify(acknowledged)}\n`);
  }
}

async function compact(store: Store): Promise<void> {
  for (;;) {
    await store.compact(Math.max(0, (await store.revision()) - 300));
    await nextTurn();
  }
}
