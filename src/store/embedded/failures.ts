/**
 * Errors of LMDB and the file system as StoreErrors.
 *
 * 1. A full disk is `Full`, however it is reported: LMDB reports a short write as an input/output error, which is
 *    distinguished by a test write. If the space is known to be too small, LMDB is not called at all: lmdb 3.5 formats
 *    its message about a refused write into a buffer that is too small, which may end the process.
 * 2. A commit that found no space changed nothing. Any other failed commit is `Unavailable`, may have reached the disk,
 *    and is final for this opening: after a failed write of its meta page, LMDB refuses all further work, and a disk
 *    that fails must not be written to.
 */

import { closeSync, fsyncSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { StoreError } from "../model/errors.ts";

const MDB_MAP_FULL = -30792;
const { ENOSPC, EDQUOT, EIO } = constants.errno;
const PROBE_BYTES = 256 * 1024;

export function damagedError(dir: string, what: string, cause?: unknown): StoreError {
  const message =
    `The data in ${dir} is damaged (${what}). It was left untouched. ` +
    "Restore a snapshot with `k8ts restore`, or choose another --data-dir.";
  return new StoreError("Corrupt", message, { cause });
}

export function newerFormatError(dir: string, format: number, known: number): StoreError {
  const message =
    `The data in ${dir} was written by a newer version (format ${format}; this one knows ${known}). ` +
    "It was left untouched. Update k8ts, or choose another --data-dir.";
  return new StoreError("NewerFormat", message);
}

export function unusableError(dir: string, cause: unknown): StoreError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new StoreError("Unavailable", `${dir} cannot be used: ${reason}. Choose another --data-dir.`, { cause });
}

/** Turns the reason of a failed commit into a StoreError. */
export async function commitFailure(dir: string, failure: unknown): Promise<StoreError> {
  const cause = await reasonOf(failure);
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  const full = code === ENOSPC || code === EDQUOT || code === MDB_MAP_FULL || (code === EIO && !canWrite(dir));
  return full ? fullError(dir, cause) : writeFailure(dir, cause);
}

/** A failed commit that may have reached the disk. */
export function writeFailure(dir: string, cause: unknown): StoreError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `The data in ${dir} could not be written (${reason}). Nothing acknowledged is lost: check the disk and start again.`;
  return new StoreError("Unavailable", message, { cause, maybeApplied: true });
}

/** The error if the disk has less room than a commit may need; nothing is tried then. */
export function spaceFailure(dir: string, bytes: number): StoreError | undefined {
  const { blocks, bavail, bsize } = statfsSync(dir);
  // Some file systems report no size.
  return blocks === 0 || bavail * bsize >= bytes ? undefined : fullError(dir);
}

function fullError(dir: string, cause?: unknown): StoreError {
  return new StoreError("Full", `No space is left for the data in ${dir}: free some, and writing goes on.`, { cause });
}

/** lmdb rejects with a general error that carries a promise of the specific one. */
async function reasonOf(failure: unknown): Promise<unknown> {
  if (!(failure instanceof Error) || !("commitError" in failure)) return failure;
  try {
    await failure.commitError;
    return failure;
  } catch (reason) {
    return reason;
  }
}

function canWrite(dir: string): boolean {
  const path = join(dir, "space-probe");
  try {
    const file = openSync(path, "w", 0o600);
    try {
      const bytes = Buffer.alloc(PROBE_BYTES);
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return true;
  } catch {
    return false; // the commit's own error is the one that is reported
  } finally {
    rmSync(path, { force: true });
  }
}
