/**
 * Writes the files of a volume atomically: readers see all of the old files or all of the new ones.
 *
 *     volume/..2030_01_01_00_00_00.ab12/dir/file     the files
 *     volume/..data ──► ..2030_01_01_00_00_00.ab12   swapped in one step
 *     volume/dir    ──► ..data/dir                   what containers see
 *
 * 1. Nothing is written if nothing has changed.
 * 2. Paths never leave the volume.
 * 3. The next write repairs an interrupted one.
 */
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock, Random } from "#base";
import { VolumeError } from "./volume-error.ts";

export interface FileContent {
  readonly bytes: Uint8Array;
  readonly mode: number;
  /** The owner. Default: root. */
  readonly uid?: number | undefined;
}

/** By path inside the volume. */
export type Payload = ReadonlyMap<string, FileContent>;

const DATA = "..data";
const MAX_PATH = 4096;

/** Returns whether anything was written. `finish` is called on the new files before they become visible. */
export async function writeAtomically(
  volume: string,
  payload: Payload,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  finish: (directory: string) => Promise<void> = async () => {},
): Promise<boolean> {
  for (const path of payload.keys()) checkPath(path);
  const current = await currentDirectory(volume);
  if (current !== undefined && (await holds(join(volume, current), payload))) {
    await linkAll(volume, payload);
    return false;
  }
  const stamp = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(/[-T:]/g, "_");
  const next = `..${stamp}.${random.string(10)}`;
  const directory = join(volume, next);
  await mkdir(directory, { mode: 0o755 });
  await chmod(directory, 0o755);
  for (const [path, { bytes, mode, uid }] of payload) {
    const file = join(directory, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o755 });
    await writeFile(file, bytes);
    await chmod(file, mode);
    if (uid !== undefined) await chown(file, uid, -1);
  }
  await finish(directory);
  const temporary = join(volume, "..data_tmp");
  await rm(temporary, { force: true });
  await symlink(next, temporary);
  await rename(temporary, join(volume, DATA));
  await linkAll(volume, payload);
  await removeOld(volume, next);
  return true;
}

function checkPath(path: string): void {
  const parts = path.split("/");
  if (path === "" || path.startsWith("/") || path.length > MAX_PATH || parts.includes("..") || path.startsWith(".."))
    throw new VolumeError(`invalid path: ${path}`);
}

async function currentDirectory(volume: string): Promise<string | undefined> {
  try {
    return await readlink(join(volume, DATA));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function holds(directory: string, payload: Payload): Promise<boolean> {
  try {
    const found = await filesBelow(directory, "");
    if (found.length !== payload.size) return false;
    for (const [path, { bytes, mode }] of payload) {
      const file = join(directory, path);
      const { mode: actual, size } = await stat(file);
      // Additional group permissions come from fsGroup, not from the file's mode.
      if (size !== bytes.length || (actual & mode) !== mode) return false;
      if (!(await readFile(file)).equals(bytes)) return false;
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

async function filesBelow(root: string, below: string): Promise<string[]> {
  const entries = await readdir(join(root, below), { withFileTypes: true });
  const found = await Promise.all(
    entries.map((entry) => {
      const path = join(below, entry.name);
      return entry.isDirectory() ? filesBelow(root, path) : [path];
    }),
  );
  return found.flat();
}

/** The links that containers see: one for each first part of a path, and no others. */
async function linkAll(volume: string, payload: Payload): Promise<void> {
  const wanted = new Set([...payload.keys()].map((path) => path.split("/")[0] ?? ""));
  for (const name of wanted) {
    const link = join(volume, name);
    if (await isLink(link)) continue;
    await symlink(join(DATA, name), link);
  }
  for (const name of await readdir(volume))
    if (!name.startsWith("..") && !wanted.has(name)) await rm(join(volume, name), { force: true });
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

async function removeOld(volume: string, current: string): Promise<void> {
  for (const name of await readdir(volume)) {
    if (name.startsWith("..") && name !== current && name !== DATA)
      await rm(join(volume, name), { recursive: true, force: true });
  }
}
