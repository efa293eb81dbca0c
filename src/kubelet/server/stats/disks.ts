/** File systems and folders: what there is, and what of it is used. */
import { readdir, readFile, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { parsePartitions } from "./disk-io.ts";

export interface DiskUsage {
  /** `/dev/…`; its number where it has no name, as virtual file systems. */
  readonly device: string;
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

/** `otherwise`: measured where the path does not exist here, as a runtime may see other paths than its kubelet. */
export async function diskUsage(path: string, otherwise?: string): Promise<DiskUsage> {
  try {
    const [{ bsize, blocks, bavail, files, ffree }, device] = await Promise.all([statfs(path), deviceOf(path)]);
    return { device, capacityBytes: blocks * bsize, availableBytes: bavail * bsize, inodes: files, inodesFree: ffree };
  } catch (error) {
    if (otherwise === undefined || (error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return diskUsage(otherwise);
  }
}

async function deviceOf(path: string): Promise<string> {
  const { dev } = await stat(path);
  // As the kernel encodes a device's number.
  const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)];
  const id = `${major}:${minor}`;
  return (await deviceNames()).get(id) ?? id;
}

/** `/dev/…` by `major:minor`. */
export async function deviceNames(): Promise<ReadonlyMap<string, string>> {
  return parsePartitions(await readFile("/proc/partitions", "utf8"));
}

export interface FilesIn {
  readonly bytes: number;
  readonly inodes: number;
}

/** The files directly in a folder; nothing if it is missing or being removed. */
export async function filesIn(directory: string): Promise<FilesIn> {
  try {
    const sizes = (await readdir(directory)).map(async (name) => (await stat(join(directory, name))).size);
    const all = await Promise.all(sizes);
    return { bytes: all.reduce((sum, size) => sum + size, 0), inodes: all.length + 1 };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { bytes: 0, inodes: 0 };
    throw error;
  }
}
