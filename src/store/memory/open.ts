/** Opens memory stores: empty, from a snapshot in memory, or from a snapshot file. */

import { type RestoreOptions, readSnapshot, restoredRevision } from "../snapshot/snapshot-file.ts";
import { type MemorySnapshot, MemoryState } from "./state.ts";
import { type MemoryOptions, MemoryStore } from "./store.ts";

export function openMemoryStore({ from, ...options }: MemoryOptions & { readonly from?: MemorySnapshot }): MemoryStore {
  return new MemoryStore(options, from?.fork());
}

/** A damaged file fails as a whole: no store has only a part of it. */
export async function restoreMemoryStore(
  source: AsyncIterable<Uint8Array>,
  options: MemoryOptions & RestoreOptions,
): Promise<MemoryStore> {
  const snapshot = await readSnapshot(source);
  const state = new MemoryState(restoredRevision(snapshot, options));
  for await (const entry of snapshot.entries) state.load(entry);
  return new MemoryStore(options, state);
}
