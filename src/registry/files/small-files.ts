/** Small files that are there as a whole or not at all, also after a crash. */
import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

export async function writeWhole(path: string, content: string | Uint8Array): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  const temporary = `${path}.${randomUUID()}`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/** So that a name that was made in it survives a loss of power. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export async function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(unlessMissing(undefined));
}

/** Sorted. A write under way leaves a name with a UUID for a moment: it is no entry. */
export async function entriesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(unlessMissing([]));
  return names.filter((name) => !/\.[0-9a-f]{8}-[0-9a-f-]{27}$/.test(name)).sort();
}

export function unlessMissing<T>(otherwise: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === "ENOENT") return otherwise;
    throw error;
  };
}
