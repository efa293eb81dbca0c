/** hostPath volumes: checks the type of the path. */
import type { Stats } from "node:fs";
import { mkdir, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { core } from "#api";
import { VolumeError } from "./volume-error.ts";

type Type = NonNullable<core.HostPathVolumeSource["type"]>;

const EXPECTED: Readonly<Partial<Record<Type, readonly [isIt: (found: Stats) => boolean, words: string]>>> = {
  Directory: [(found) => found.isDirectory(), "a directory"],
  DirectoryOrCreate: [(found) => found.isDirectory(), "a directory"],
  File: [(found) => found.isFile(), "a file"],
  FileOrCreate: [(found) => found.isFile(), "a file"],
  Socket: [(found) => found.isSocket(), "a socket file"],
  CharDevice: [(found) => found.isCharacterDevice(), "a character device"],
  BlockDevice: [(found) => found.isBlockDevice(), "a block device"],
};

export async function hostPath({ path, type = "" }: core.HostPathVolumeSource): Promise<string> {
  const expected = EXPECTED[type];
  if (expected === undefined) return path;
  let found = await statIfThere(path);
  if (found === undefined) {
    if (type === "DirectoryOrCreate") await mkdir(path, { recursive: true, mode: 0o755 });
    if (type === "FileOrCreate") await createFile(path);
    found = await statIfThere(path);
  }
  const [isIt, words] = expected;
  if (found === undefined || !isIt(found)) throw new VolumeError(`hostPath type check failed: ${path} is not ${words}`);
  return path;
}

/** Does not create the parent directory: a missing one is likely a mistake. */
async function createFile(path: string): Promise<void> {
  if ((await statIfThere(dirname(path))) === undefined)
    throw new VolumeError(`hostPath type check failed: ${dirname(path)} is not a directory`);
  await (await open(path, "a", 0o644)).close();
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
