/**
 * Verifies a whole data file: that it can be read, that every checksum matches, and that index and log agree.
 * Read-only.
 */

import { DamagedFile, LmdbFile } from "./lmdb-file.ts";
import {
  DamagedRecord,
  decodeIndex,
  decodeLog,
  decodeState,
  type IndexEntry,
  readRevisionKey,
  type State,
} from "./records.ts";
import { STATE_KEY, TABLES } from "./tables.ts";

export type CheckResult =
  | { readonly sound: true; readonly state: State }
  | { readonly sound: false; readonly finding: string };

/** `knownFormat`: of data in a newer format only the state is read. */
export function deepCheck(path: string, knownFormat: number): CheckResult {
  try {
    return { sound: true, state: check(path, knownFormat) };
  } catch (error) {
    if (error instanceof DamagedFile) return { sound: false, finding: error.message };
    throw error;
  }
}

function check(path: string, knownFormat: number): State {
  const file = new LmdbFile(path);
  try {
    const tables = file.tables();
    const state = readState(file, tables.get(TABLES.meta));
    if (state.format > knownFormat) return state;
    const live = checkLog(file, tables.get(TABLES.log), state);
    checkIndex(file, tables.get(TABLES.current), live);
    file.checkFree();
    return state;
  } finally {
    file.close();
  }
}

type Table = ReturnType<ReturnType<LmdbFile["tables"]>["get"]>;

function readState(file: LmdbFile, table: Table): State {
  for (const { key, value } of records(file, table)) {
    if (key.toString("utf8") === STATE_KEY) return named("the state of the store", () => decodeState(value));
  }
  throw new DamagedFile("it is not the data of a store");
}

/** The keys that exist after the last record, and their revisions in the log. */
function checkLog(file: LmdbFile, table: Table, { head, compacted }: State): Map<string, IndexEntry> {
  const live = new Map<string, IndexEntry>();
  let history = 0;
  for (const { key, value } of records(file, table)) {
    const at = readRevisionKey(key, 0);
    const {
      revision,
      key: name,
      value: kept,
      createRevision,
      previousRevision,
    } = named(`revision ${at}`, () => decodeLog(value));
    if (revision !== at || revision > head) throw new DamagedFile(`revision ${revision} is out of place`);
    if (revision > compacted) {
      history++;
      if ((live.get(name)?.revision ?? 0) !== previousRevision)
        throw new DamagedFile(`revision ${revision} does not follow ${previousRevision}`);
    }
    if (kept === undefined) live.delete(name);
    else live.set(name, { createRevision, revision });
  }
  if (history !== head - compacted) throw new DamagedFile(`revisions after ${compacted} are missing`);
  return live;
}

function checkIndex(file: LmdbFile, table: Table, live: ReadonlyMap<string, IndexEntry>): void {
  let count = 0;
  for (const { key, value } of records(file, table)) {
    const name = key.toString("utf8");
    const found = named(`the index at ${name}`, () => decodeIndex(value));
    const wanted = live.get(name);
    if (wanted?.revision !== found.revision || wanted.createRevision !== found.createRevision) {
      throw new DamagedFile(`the index and the log do not agree about ${name}`);
    }
    count++;
  }
  if (count !== live.size) throw new DamagedFile("the index lacks keys");
}

function* records(file: LmdbFile, table: Table) {
  if (table === undefined) throw new DamagedFile("a table is missing");
  yield* file.records(table);
}

function named<T>(subject: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof DamagedRecord) throw new DamagedFile(`${subject}: ${error.message}`, { cause: error });
    throw error;
  }
}
