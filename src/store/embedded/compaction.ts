/**
 * Compaction: forgetting what no list and no watch from the compacted revision on can ask for.
 *
 * 1. Up to the compacted revision C, the log keeps only what was current at C: the record that a write replaced goes, and
 *    so does a deletion itself.
 * 2. It works through (last C, C] in slices. Each is part of one commit to the tables, raises the compacted revision, and
 *    leaves a sound state: a crash between two of them costs nothing, and no writer waits.
 * 3. What this process has written is known without a look at the log.
 */

import type { Revision } from "../model/store.ts";
import type { DurableState, Maintenance } from "./durable-state.ts";
import type { State } from "./records.ts";
import type { Replaced } from "./replaced.ts";

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
  const dropped = replaced.between(compacted + 1, through) ?? readFrom(durable, compacted + 1, through);
  return { dropped, compacted: through };
}

function readFrom(durable: DurableState, from: Revision, through: Revision): readonly Revision[] {
  const dropped: Revision[] = [];
  for (const { revision, value, previousRevision } of durable.records(from, through)) {
    if (previousRevision !== 0) dropped.push(previousRevision);
    if (value === undefined) dropped.push(revision);
  }
  return dropped;
}
