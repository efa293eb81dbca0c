/**
 * Opening: takes the lock, and verifies the data before LMDB maps it.
 *
 *     lock ──► stamp ──► closed cleanly? ── yes ──► header only ─────────────────────────────────┐
 *                             └── no: deep check, then the journal ──► its records are pending ──┴──► store
 *
 * 1. One process at a time.
 * 2. Data that is refused is not changed.
 * 3. After a crash with sound data the store opens without further help.
 */

import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { acquireFileLock, type Clock, type FileLock, type Logger, silentLogger } from "#base";
import { DEFAULT_HISTORY, type HistoryPolicy } from "../history/history.ts";
import { StoreError } from "../model/errors.ts";
import type { Store } from "../model/store.ts";
import { deepCheck } from "./deep-check.ts";
import { DurableState } from "./durable-state.ts";
import { EmbeddedStore } from "./embedded-store.ts";
import { damagedError, newerFormatError, unusableError } from "./failures.ts";
import { createJournal, JOURNAL_BYTES, Journal, type Journaled, readJournal } from "./journal.ts";
import { DamagedFile, LmdbFile } from "./lmdb-file.ts";
import type { State } from "./records.ts";
import { closedCleanly, DATA_FILE, FORMAT, JOURNAL_FILE, LMDB_FILES, readStamp, writeStamp } from "./stamp.ts";
import { Tables } from "./tables.ts";

export interface EmbeddedOptions {
  /** Made if it is missing. */
  readonly dir: string;
  readonly clock: Clock;
  readonly log?: Logger;
  readonly history?: Partial<HistoryPolicy>;
  /** Default: true. False: batches are left to the kernel, for tests. */
  readonly flush?: boolean | undefined;
}

/** The format from which on there is a journal. */
const JOURNAL_SINCE = 2;

interface Opened {
  readonly tables: Tables;
  readonly state: State;
  /** What is found after a crash. */
  readonly journaled?: Journaled | undefined;
}

export async function openEmbeddedStore(options: EmbeddedOptions): Promise<Store> {
  const { clock, log = silentLogger } = options;
  const dir = resolve(options.dir);
  const lock = lockDirectory(dir, clock);
  try {
    const { tables, state, journaled } = await openTables(dir, clock, log);
    const journal = new Journal(join(dir, JOURNAL_FILE), state.storeId, journaled?.end, options.flush);
    return new EmbeddedStore({
      durable: new DurableState({ tables, journal, state, pending: journaled?.records, log }),
      clock,
      log,
      history: { ...DEFAULT_HISTORY, ...options.history },
      sizeBytes: () => usedBytes(join(dir, DATA_FILE)) + usedBytes(join(dir, JOURNAL_FILE)),
      released: (clean) => {
        try {
          if (clean) writeStamp(dir, "closed", state.storeId);
        } catch (error) {
          log.warn("The data was closed, but could not be stamped as such: the next start will check it.", {
            dir,
            error,
          });
        } finally {
          lock.release();
        }
      },
    });
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** What a file takes on the disk: files of LMDB and journals have holes. */
function usedBytes(file: string): number {
  return statSync(file).blocks * 512;
}

/** Makes the directory if it is missing, and takes its lock. */
export function lockDirectory(dir: string, clock: Clock): FileLock {
  const since = new Date(clock.now()).toISOString();
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const lock = acquireFileLock(join(dir, "lock"), { holder: `process ${process.pid} (since ${since})` });
    if (!("heldBy" in lock)) return lock;
    throw new StoreError("Locked", `${dir} is in use by ${lock.heldBy}: stop it first or choose another --data-dir.`);
  } catch (error) {
    throw error instanceof StoreError ? error : unusableError(dir, error);
  }
}

/** Whether the directory has no data file. */
export function isVacant(dir: string): boolean {
  const stamp = readStamp(dir);
  return stamp?.state === "creating" || (stamp === undefined && !existsSync(join(dir, DATA_FILE)));
}

/** Creates the files of a new store and passes its empty tables on; `state` is its first state. */
export async function createTables(dir: string, state: Pick<State, "head" | "compacted">): Promise<Opened> {
  const storeId = randomUUID();
  writeStamp(dir, "creating", storeId);
  for (const name of LMDB_FILES) rmSync(join(dir, name), { force: true });
  makeJournal(dir);
  const tables = loadTables(dir);
  try {
    const initial = { ...state, format: FORMAT, storeId };
    await tables.commit({ added: [], dropped: [], state: initial });
    return { tables, state: initial };
  } catch (error) {
    await tables.close();
    throw error;
  }
}

async function openTables(dir: string, clock: Clock, log: Logger): Promise<Opened> {
  if (isVacant(dir)) {
    const created = await createTables(dir, { head: 0, compacted: 0 });
    writeStamp(dir, "open", created.state.storeId);
    return created;
  }
  const journaled = inspect(dir, clock, log);
  const tables = loadTables(dir);
  try {
    const found = tables.state();
    if (found === undefined) throw damagedError(dir, "its state is missing");
    const state = { ...found, format: FORMAT };
    if (!hasJournal(dir)) makeJournal(dir);
    if (found.format < FORMAT) await tables.commit({ added: [], dropped: [], state });
    writeStamp(dir, "open", state.storeId);
    return { tables, state, journaled };
  } catch (error) {
    await tables.close();
    throw error;
  }
}

/**
 * Verifies existing data, as thoroughly as its stamp demands, and throws unless it can be used. Undefined: the tables
 * hold all records.
 */
function inspect(dir: string, clock: Clock, log: Logger): Journaled | undefined {
  const path = join(dir, DATA_FILE);
  const stamp = readStamp(dir);
  if (stamp !== undefined && stamp.format > FORMAT) throw newerFormatError(dir, stamp.format, FORMAT);
  if (!existsSync(path)) throw damagedError(dir, `${DATA_FILE} is missing`);
  if (stamp === undefined || !closedCleanly(dir, stamp)) return inspectAll(dir, path, clock, log);
  inspectHeader(dir, path);
  return undefined;
}

function inspectAll(dir: string, path: string, clock: Clock, log: Logger): Journaled | undefined {
  const start = clock.monotonic();
  const result = deepCheck(path, FORMAT);
  if (!result.sound) throw damagedError(dir, result.finding);
  const { state } = result;
  if (state.format > FORMAT) throw newerFormatError(dir, state.format, FORMAT);
  const journaled = state.format < JOURNAL_SINCE ? undefined : inspectJournal(dir, state);
  const inJournal = journaled?.records.length ?? 0;
  log.info("The data was not closed cleanly; it has been checked and is sound.", {
    dir,
    head: state.head + inJournal,
    inJournal,
    tookMs: Math.round(clock.monotonic() - start),
  });
  return journaled;
}

function inspectJournal(dir: string, { storeId, head }: State): Journaled {
  if (!hasJournal(dir)) throw damagedError(dir, `${JOURNAL_FILE} is missing or too short`);
  const journaled = readJournal(join(dir, JOURNAL_FILE), storeId, head);
  if (journaled === undefined) throw damagedError(dir, `${JOURNAL_FILE} lacks revision ${head + 1} or a later one`);
  return journaled;
}

function inspectHeader(dir: string, path: string): void {
  try {
    new LmdbFile(path).close();
  } catch (error) {
    if (error instanceof DamagedFile) throw damagedError(dir, error.message, error);
    throw error;
  }
}

function hasJournal(dir: string): boolean {
  return statSync(join(dir, JOURNAL_FILE), { throwIfNoEntry: false })?.size === JOURNAL_BYTES;
}

function makeJournal(dir: string): void {
  try {
    createJournal(join(dir, JOURNAL_FILE));
  } catch (error) {
    throw unusableError(dir, error);
  }
}

function loadTables(dir: string): Tables {
  try {
    return new Tables(dir);
  } catch (error) {
    throw unusableError(dir, error);
  }
}
