/**
 * Binds a directory or file inside a volume (subPath). It cannot leave the volume, even if somebody who can write to
 * the volume replaces it by a link meanwhile.
 *
 *     realpath inside the volume ──► opened step by step, following no link ──► bind mount of the open file
 *
 * 1. The same open file is checked and used: there is no race in between.
 * 2. Missing directories are created, files never.
 */
import { constants } from "node:fs";
import { chmod, type FileHandle, mkdir, open, readFile, realpath, stat, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Mounter } from "../host/index.ts";
import { VolumeError } from "./volume-error.ts";

/** Linux's O_PATH, which Node does not export: opens without read access. */
const O_PATH = 0o10000000;
const MAX_READ_BYTES = 64 * 1024;
/** The mode of directories that containers do not see. */
const TARGET_MODE = 0o750;

export async function bindSubPath(
  mounter: Mounter,
  { volume, subPath, target }: { readonly volume: string; readonly subPath: string; readonly target: string },
): Promise<void> {
  const root = await realpath(volume);
  const found = await openInside(root, subPath);
  try {
    const { dev, ino, mode } = await found.stat();
    const isDirectory = (mode & constants.S_IFMT) === constants.S_IFDIR;
    const there = await mounted(mounter, target);
    if (there !== undefined) {
      if (there.dev === dev && there.ino === ino) return;
      await mounter.unmount(target);
    }
    await mkdir(isDirectory ? target : dirname(target), { recursive: true, mode: TARGET_MODE });
    if (!isDirectory) await writeFile(target, "", { flag: "a" });
    await mounter.bind(`/proc/${process.pid}/fd/${found.fd}`, target);
  } finally {
    await found.close();
  }
}

/** The contents of a small file in the volume; undefined if there is none. The same open file is checked and read. */
export async function readInside(volume: string, path: string): Promise<string | undefined> {
  const root = await realpath(volume);
  const parts = await resolvedParts(root, path);
  let at = await open(root, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    for (const part of parts) {
      const next = await open(`/proc/self/fd/${at.fd}/${part}`, O_PATH | constants.O_NOFOLLOW);
      await at.close();
      at = next;
    }
    const { mode, size } = await at.stat();
    if ((mode & constants.S_IFMT) !== constants.S_IFREG) throw new VolumeError(`"${path}" is not a file`);
    if (size > MAX_READ_BYTES) throw new VolumeError(`"${path}" is larger than ${MAX_READ_BYTES} bytes`);
    return await readFile(`/proc/self/fd/${at.fd}`, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  } finally {
    await at.close();
  }
}

async function mounted(mounter: Mounter, target: string) {
  return (await mounter.below(target)).includes(target) ? stat(target) : undefined;
}

/** Opens the subpath; creates missing directories with the mode of the volume. */
async function openInside(root: string, subPath: string): Promise<FileHandle> {
  const parts = await resolvedParts(root, subPath);
  let at = await open(root, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const rights = (await at.stat()).mode & 0o7777;
  for (const part of parts) {
    const path = `/proc/self/fd/${at.fd}/${part}`;
    try {
      const next = await openOrMake(path, rights);
      await at.close();
      at = next;
    } catch (error) {
      await at.close();
      throw error;
    }
    const { mode } = await at.stat();
    if ((mode & constants.S_IFMT) === constants.S_IFLNK) {
      await at.close();
      throw new VolumeError(`subpath "${subPath}" was changed to a symlink while it was opened`);
    }
  }
  return at;
}

async function openOrMake(path: string, rights: number): Promise<FileHandle> {
  const flags = O_PATH | constants.O_NOFOLLOW;
  try {
    return await open(path, flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  const made = await open(path, flags);
  const { mode } = await made.stat();
  // Through the open file, regardless of the umask. Setgid and sticky bits are those of the volume, too.
  if ((mode & constants.S_IFMT) === constants.S_IFDIR) await chmod(`/proc/self/fd/${made.fd}`, rights);
  return made;
}

/** The parts of the path below the root, with the links of its existing part resolved. */
async function resolvedParts(root: string, subPath: string): Promise<readonly string[]> {
  const wanted = subPath.split("/").filter((part) => part !== "" && part !== ".");
  if (wanted.includes("..")) throw new VolumeError(`subpath "${subPath}" must not contain ".."`);
  for (let count = wanted.length; count >= 0; count--) {
    const existing = await realpathIfThere(join(root, ...wanted.slice(0, count)));
    if (existing === undefined) continue;
    if (existing !== root && !existing.startsWith(`${root}/`))
      throw new VolumeError(`subpath "${subPath}" not within volume path "${root}"`);
    const inside = relative(root, existing).split("/").filter(Boolean);
    return [...inside, ...wanted.slice(count)];
  }
  throw new VolumeError(`the volume at ${root} is gone`);
}

/** Undefined if it does not exist. */
async function realpathIfThere(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
