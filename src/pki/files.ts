/**
 * Small files that must be either old or new, never half: keys, certificates, kubeconfigs.
 *
 * 1. A file is written under another name, brought to disk, and renamed into place. Files written together are renamed
 *    in the order given, after all of them are on disk.
 * 2. No key is readable by others at any moment, also not under its first name.
 * 3. A failure removes partial files and is reported in one sentence that names the file.
 */

import { randomBytes } from "node:crypto";
import { type FileHandle, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder, table } from "#base";
import { PkiError } from "./errors.ts";

export const PRIVATE_FILE = 0o600;
export const PUBLIC_FILE = 0o644;
const PRIVATE_FOLDER = 0o700;

export interface FileWrite {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
  /** The owner of the file. Default: the user of this process. */
  readonly owner?: { readonly uid: number; readonly gid: number };
}

export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw fileError("read", path, error);
  }
}

/** Creates the folder and its parents; an existing folder keeps its mode. */
export async function ensurePrivateFolder(path: string): Promise<void> {
  await makeFolder(path, PRIVATE_FOLDER).catch((error: unknown) => {
    throw fileError("make the folder", path, error);
  });
}

export async function writeFiles(writes: readonly FileWrite[]): Promise<void> {
  const staged = writes.map((write) => ({ write, temporary: `${write.path}.${randomBytes(6).toString("hex")}.tmp` }));
  try {
    const results = await Promise.allSettled(staged.map(({ write, temporary }) => stage(write, temporary)));
    for (const result of results) if (result.status === "rejected") throw result.reason;
    for (const { write, temporary } of staged) {
      await rename(temporary, write.path).catch((error: unknown) => {
        throw fileError("write", write.path, error);
      });
    }
  } catch (error) {
    await Promise.all(staged.map(({ temporary }) => rm(temporary, { force: true })));
    throw error;
  }
  for (const folder of new Set(writes.map(({ path }) => dirname(path)))) await syncFolder(folder);
}

async function stage({ path, text, mode, owner }: FileWrite, temporary: string): Promise<void> {
  try {
    await using file = await open(temporary, "wx", PRIVATE_FILE);
    await file.writeFile(text);
    if (owner !== undefined) await file.chown(owner.uid, owner.gid);
    await file.chmod(mode);
    await file.sync();
  } catch (error) {
    throw fileError("write", path, error);
  }
}

/** A rename is on disk only when its folder is. */
async function syncFolder(path: string): Promise<void> {
  let folder: FileHandle | undefined;
  try {
    folder = await open(path, "r");
    await folder.sync();
  } catch (error) {
    throw fileError("bring to disk the folder", path, error);
  } finally {
    await folder?.close();
  }
}

const CAUSES: Readonly<Record<string, string>> = table({
  EACCES: "permission is denied",
  EPERM: "permission is denied",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is not a folder",
  EEXIST: "a file is in its place",
  ENOENT: "its folder does not exist",
});

export function fileError(action: string, path: string, error: unknown): PkiError {
  const code = errorCode(error);
  const cause = (code && CAUSES[code]) ?? (error instanceof Error ? error.message : String(error));
  return new PkiError(`Cannot ${action} ${path}: ${cause}.`, error);
}

export function errorCode(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;
}
