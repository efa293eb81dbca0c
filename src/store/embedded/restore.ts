/**
 * Restores a snapshot into an empty directory.
 *
 *     snapshot ──► DIR/restoring (built and closed) ══► journal, data file, stamp renamed into DIR, one after the other
 *
 * 1. DIR gets everything or nothing: the renaming of the data file decides. A directory that holds a store is refused
 *    and left untouched.
 * 2. Entries keep their revisions. There is no history before the revision that the store starts at.
 */

import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { StoreError } from "../model/errors.ts";
import type { Entry, Revision } from "../model/store.ts";
import { type Restore, readSnapshot, restoredRevision } from "../snapshot/snapshot-file.ts";
import { createTables, isVacant, lockDirectory } from "./open.ts";
import type { LogRecord } from "./records.ts";
import { DATA_FILE, JOURNAL_FILE, LMDB_FILES, STAMP_FILE, syncDirectory, writeStamp } from "./stamp.ts";

const BATCH_BYTES = 8 * 1024 * 1024;

export const restoreEmbeddedStore: Restore<string> = async (place, source, options) => {
  const dir = resolve(place);
  const lock = lockDirectory(dir, options.clock);
  const building = join(dir, "restoring");
  try {
    if (!isVacant(dir)) throw new StoreError("Unavailable", `${dir} holds a store already: choose an empty directory.`);
    rmSync(building, { recursive: true, force: true });
    mkdirSync(building, { mode: 0o700 });
    const snapshot = await readSnapshot(source);
    const revision = restoredRevision(snapshot, options);
    await build(building, revision, snapshot.entries);
    moveInto(dir, building);
    return revision;
  } finally {
    rmSync(building, { recursive: true, force: true });
    lock.release();
  }
};

async function build(dir: string, revision: Revision, entries: AsyncIterable<Entry>): Promise<void> {
  const { tables, state } = await createTables(dir, { head: revision, compacted: revision });
  try {
    let records: LogRecord[] = [];
    let bytes = 0;
    for await (const entry of entries) {
      records.push({ ...entry, previousRevision: 0 });
      bytes += entry.value.length + entry.key.length;
      if (bytes < BATCH_BYTES) continue;
      await tables.load(records);
      records = [];
      bytes = 0;
    }
    await tables.load(records);
  } finally {
    await tables.close();
  }
  writeStamp(dir, "closed", state.storeId);
}

/** Removes the stamp of an interrupted creation: because of it the restored data would be discarded. */
function moveInto(dir: string, building: string): void {
  for (const name of [...LMDB_FILES, STAMP_FILE]) rmSync(join(dir, name), { force: true });
  syncDirectory(dir);
  for (const name of [JOURNAL_FILE, DATA_FILE, STAMP_FILE]) {
    renameSync(join(building, name), join(dir, name));
    syncDirectory(dir);
  }
}
