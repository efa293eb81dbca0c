/**
 * Compaction: forgetting what no list and no watch from the compacted revision on can ask for.
 *
 * 1. Up to the compacted revision C, the log keeps only what was current at C: the record that a write replaced goes, and
 *    so does a deletion itself.
 * 2. It works through (last C, C] in slices. Each is part of one commit, raises the compacted revision, and leaves a
 *    sound state: a crash between two of them costs nothing, and no writer waits for long.
 * 3. What this process has written is known without a look at the log.
 */

import type { Revision } from "../store.ts";
import type { GroupCommit, Maintenance } from "./group-commit.ts";
import type { State } from "./records.ts";
import type { Replaced } from "./replaced.ts";
import type { Tables } from "./tables.ts";

const SLICE_RECORDS = 500;

export interface Compacted {
  readonly commits: GroupCommit;
  readonly tables: Tables;
  readonly replaced: Replaced;
}

/** `revision` must not be newer than the head. */
export async function compactThrough(revision: Revision, { commits, tables, replaced }: Compacted): Promise<void> {
  while (commits.state.compacted < revision) {
    await commits.maintain((state) => slice(revision, state, tables, replaced));
    replaced.forget(commits.state.compacted);
  }
}

function slice(target: Revision, { compacted }: State, tables: Tables, replaced: Replaced): Maintenance {
  const through = Math.min(target, compacted + SLICE_RECORDS);
  if (through <= compacted) return { dropped: [], compacted };
  const dropped = replaced.between(compacted + 1, through) ?? readFrom(tables, compacted + 1, through);
  return { dropped, compacted: through };
}

function readFrom(tables: Tables, from: Revision, through: Revision): readonly Revision[] {
  const dropped: Revision[] = [];
  for (const { revision, value, previousRevision } of tables.records(from, through)) {
    if (previousRevision !== 0) dropped.push(previousRevision);
    if (value === undefined) dropped.push(revision);
  }
  return dropped;
}
