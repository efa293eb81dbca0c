/** What the files of a folder use of its disk. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

export interface DiskUse {
  readonly bytes: number;
  /** Files and folders, itself included. */
  readonly inodes: number;
}

/** A file with several hard links counts once; files that disappear meanwhile are skipped. */
export async function diskUse(folder: string, seen: Set<number> = new Set()): Promise<DiskUse> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(absent(undefined));
  if (entries === undefined) return { bytes: 0, inodes: 0 };
  let [bytes, inodes] = [0, 1];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      const below = await diskUse(path, seen);
      bytes += below.bytes;
      inodes += below.inodes;
    } else if (entry.isFile()) {
      const found = await stat(path).catch(absent(undefined));
      if (found === undefined || seen.has(found.ino)) continue;
      if (found.nlink > 1) seen.add(found.ino);
      bytes += found.blocks * 512;
      inodes++;
    } else inodes++;
  }
  return { bytes, inodes };
}

function absent<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === "ENOENT") return value;
    throw error;
  };
}
