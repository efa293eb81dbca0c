/**
 * The stamp: a small file beside the data with the format, the store id, and whether the store was closed cleanly.
 *
 *     { "format": 2, "storeId": "…", "state": "creating" | "open" | "closed", "size": "…", "mtimeNs": "…" }
 *
 * 1. It is replaced as a whole, and is on disk before what depends on it.
 * 2. "closed" holds only for a data file of exactly this size and time of change.
 */

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";

export const FORMAT = 2;
export const DATA_FILE = "data.mdb";
export const JOURNAL_FILE = "journal";
export const LMDB_FILES = [DATA_FILE, "lock.mdb"] as const;
export const STAMP_FILE = "stamp.json";

export interface Stamp {
  readonly format: number;
  readonly storeId: string;
  readonly state: "creating" | "open" | "closed";
  /** Of the data file when it was closed. */
  readonly size?: string;
  readonly mtimeNs?: string;
}

/** Undefined if there is none, or it cannot be read: then the data is checked. */
export function readStamp(dir: string): Stamp | undefined {
  try {
    const stamp: unknown = JSON.parse(readFileSync(join(dir, STAMP_FILE), "utf8"));
    return isStamp(stamp) ? stamp : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || isMissing(error)) return undefined;
    throw error;
  }
}

export function writeStamp(dir: string, state: Stamp["state"], storeId: string): void {
  const stamp: Stamp = { format: FORMAT, storeId, state, ...(state === "closed" ? dataFacts(dir) : {}) };
  const path = join(dir, STAMP_FILE);
  const temporary = `${path}.new`;
  const file = openSync(temporary, "w", 0o600);
  try {
    writeSync(file, `${JSON.stringify(stamp)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  syncDirectory(dir);
}

export function closedCleanly(dir: string, stamp: Stamp): boolean {
  if (stamp.state !== "closed") return false;
  const { size, mtimeNs } = dataFacts(dir);
  return stamp.size === size && stamp.mtimeNs === mtimeNs;
}

/** Makes renamings in a directory durable. */
export function syncDirectory(dir: string): void {
  const handle = openSync(dir, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

export function isMissing(error: unknown): boolean {
  return typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT";
}

function dataFacts(dir: string): { size: string; mtimeNs: string } {
  const { size, mtimeNs } = statSync(join(dir, DATA_FILE), { bigint: true });
  return { size: `${size}`, mtimeNs: `${mtimeNs}` };
}

function isStamp(value: unknown): value is Stamp {
  return (
    typeof value === "object" &&
    value !== null &&
    "format" in value &&
    typeof value.format === "number" &&
    "storeId" in value &&
    typeof value.storeId === "string" &&
    "state" in value &&
    typeof value.state === "string"
  );
}
