/**
 * A lock between processes that dies with its holder, also after kill -9.
 *
 * 1. The kernel holds the lock, not a file's content: there is no stale lock, no pid to compare, and namespaces don't
 *    matter. Node has no flock; SQLite takes POSIX record locks, so an open exclusive transaction on an empty database
 *    is the lock.
 * 2. The holder's description lies beside the lock and serves error messages only.
 * 3. POSIX drops a process's locks when it closes any descriptor of the file: nothing else may open the lock's file.
 */

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

export interface FileLockOptions {
  /** Who takes the lock, in words that an error message can quote: "process 1234 (since …)". */
  readonly holder: string;
}

export interface FileLock {
  release(): void;
}

export interface FileLockHeld {
  readonly heldBy: string;
}

const SQLITE_BUSY = 5;

/** Takes the lock or says who has it; never waits. Throws when the file cannot be opened at all. */
export function acquireFileLock(path: string, options: FileLockOptions): FileLock | FileLockHeld {
  const holderFile = `${path}.holder`;
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // Nothing is ever written, so that a full disk does not matter: not even a journal.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (isBusy(error)) return { heldBy: readHolder(holderFile) };
    throw error;
  }
  try {
    writeFileSync(holderFile, options.holder);
  } catch {
    // A full disk: the lock is held, only nobody can say by whom.
  }

  let held = true;
  return {
    release() {
      if (!held) return;
      held = false;
      rmSync(holderFile, { force: true });
      database.close();
    },
  };
}

function isBusy(error: unknown): boolean {
  return typeof error === "object" && error !== null && "errcode" in error && error.errcode === SQLITE_BUSY;
}

function readHolder(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "another process"; // the holder is just starting or stopping
  }
}
