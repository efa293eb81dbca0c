/**
 * Compaction: drops records that no list or watch from the compacted revision on needs.
 *
 * 1. Up to the compacted revision C, the log keeps only what was current at C: records that were replaced, and
 *    deletions, are dropped.
 * 2. It works through (last C, C] in slices. Each is part of one commit to the tables, raises the compacted revision,
 *    and leaves a consistent state: a crash between two slices loses nothing, and no writer waits.
 * 3. For changes of this process the log is not read (replaced.ts).
 */

import type { Revision } from "../model/store.ts";
import type { DurableState, Maintenance } from "./durable-state.ts";
import type { State } from "./records.ts";
import { obsoleteIn, type Replaced } from "./replaced.ts";

const SLICE_RECORDS = 500;

export interface Compacted {
  readonly durable: DurableState;
  readonly replaced: Replaced;
}

/** `revision` must not be newer than the head. */
export async function compactThrough(revision: Revision, { durable, replaced }: Compacted): Promise<void> {
  while (durable.compacted < revision) {
    await durable.maintain((state) => slice(revision, state, durable, replaced));
    replaced.forget(durable.compacted);
  }
}

function slice(target: Revision, { head, compacted }: State, durable: DurableState, replaced: Replaced): Maintenance {
  const through = Math.min(target, compacted + SLICE_RECORDS, head);
  if (through <= compacted) return { dropped: [], compacted };
  const dropped = replaced.between(compacted + 1, through) ?? obsoleteIn(durable.records(compacted + 1, through));
  return { dropped, compacted: through };
}
