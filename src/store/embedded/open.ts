/**
 * Opening: who may, what is there, and whether it can be trusted, before LMDB touches it.
 *
 *     lock ──► stamp ──► closed cleanly? ── yes ──► header only ──┐
 *                             └── no: deep check ────────────────┴──► tables ──► store
 *
 * 1. One process at a time.
 * 2. What is refused has not been changed.
 * 3. After a crash with sound data the start goes on by itself.
 */

import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { acquireFileLock, type Clock, type FileLock, type Logger, silentLogger } from "#base";
import { StoreError } from "../errors.ts";
import { DEFAULT_HISTORY, type HistoryPolicy } from "../history.ts";
import type { Store } from "../store.ts";
import { deepCheck } from "./deep-check.ts";
import { EmbeddedStore } from "./embedded-store.ts";
import { damagedError, newerFormatError, unusableError } from "./failures.ts";
import { DamagedFile, LmdbFile } from "./lmdb-file.ts";
import type { State } from "./records.ts";
import { closedCleanly, DATA_FILE, FORMAT, LMDB_FILES, readStamp, writeStamp } from "./stamp.ts";
import { Tables } from "./tables.ts";

export interface EmbeddedOptions {
  /** Made if it is missing. */
  readonly dir: string;
  readonly clock: Clock;
  readonly log?: Logger;
  readonly history?: Partial<HistoryPolicy>;
}

interface Opened {
  readonly tables: Tables;
  readonly state: State;
}

export async function openEmbeddedStore(options: EmbeddedOptions): Promise<Store> {
  const { clock, log = silentLogger } = options;
  const dir = resolve(options.dir);
  const lock = lockDirectory(dir, clock);
  try {
    const { tables, state } = await openTables(dir, clock, log);
    return new EmbeddedStore({
      tables,
      state,
      clock,
      log,
      history: { ...DEFAULT_HISTORY, ...options.history },
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

/** A directory without any data in it, as far as one can tell without looking into the data. */
export function isVacant(dir: string): boolean {
  const stamp = readStamp(dir);
  return stamp?.state === "creating" || (stamp === undefined && !existsSync(join(dir, DATA_FILE)));
}

/** Makes the tables of a new store and hands them over with nothing in them; `state` says where it starts. */
export async function createTables(dir: string, state: Pick<State, "head" | "compacted">): Promise<Opened> {
  const storeId = randomUUID();
  writeStamp(dir, "creating", storeId);
  for (const name of LMDB_FILES) rmSync(join(dir, name), { force: true });
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
  inspect(dir, clock, log);
  const tables = loadTables(dir);
  try {
    const state = tables.state();
    if (state === undefined) throw damagedError(dir, "its state is missing");
    writeStamp(dir, "open", state.storeId);
    return { tables, state };
  } catch (error) {
    await tables.close();
    throw error;
  }
}

/** Looks at existing data, as closely as its stamp demands, and throws unless it can be used. */
function inspect(dir: string, clock: Clock, log: Logger): void {
  const path = join(dir, DATA_FILE);
  const stamp = readStamp(dir);
  if (stamp !== undefined && stamp.format > FORMAT) throw newerFormatError(dir, stamp.format, FORMAT);
  if (!existsSync(path)) throw damagedError(dir, `${DATA_FILE} is missing`);
  if (stamp !== undefined && closedCleanly(dir, stamp)) inspectHeader(dir, path);
  else inspectAll(dir, path, clock, log);
}

function inspectAll(dir: string, path: string, clock: Clock, log: Logger): void {
  const start = clock.monotonic();
  const result = deepCheck(path, FORMAT);
  if (!result.sound) throw damagedError(dir, result.finding);
  if (result.state.format > FORMAT) throw newerFormatError(dir, result.state.format, FORMAT);
  const tookMs = Math.round(clock.monotonic() - start);
  log.info("The data was not closed cleanly; it has been checked and is sound.", {
    dir,
    head: result.state.head,
    tookMs,
  });
}

function inspectHeader(dir: string, path: string): void {
  try {
    new LmdbFile(path).close();
  } catch (error) {
    if (error instanceof DamagedFile) throw damagedError(dir, error.message, error);
    throw error;
  }
}

function loadTables(dir: string): Tables {
  try {
    return new Tables(dir);
  } catch (error) {
    throw unusableError(dir, error);
  }
}
