/**
 * Applies fsGroup to a volume: all files belong to the group, which may read them (and write, unless the volume is
 * read-only); the setgid bit makes later files belong to it, too.
 */
import { chmod, lchown, lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

const READ_WRITE = 0o660;
const READ_ONLY = 0o440;
const ENTER = 0o110;
const SET_GID = 0o2000;

export interface Ownership {
  readonly group: number;
  readonly readOnly: boolean;
  /** fsGroupChangePolicy OnRootMismatch: skip the volume if its root is right already. */
  readonly onRootMismatch: boolean;
}

export async function giveToGroup(path: string, { group, readOnly, onRootMismatch }: Ownership): Promise<void> {
  if (onRootMismatch && (await isRight(path, group, readOnly))) return;
  await change(path, group, readOnly ? READ_ONLY : READ_WRITE);
}

async function isRight(path: string, group: number, readOnly: boolean): Promise<boolean> {
  const { gid, mode } = await stat(path);
  const wanted = (readOnly ? READ_ONLY : READ_WRITE) | ENTER | SET_GID;
  return gid === group && (mode & wanted) === wanted;
}

async function change(path: string, group: number, mask: number): Promise<void> {
  const { mode, uid } = await lstat(path);
  await lchown(path, uid, group);
  // A link has no mode of its own, and its target may be outside of the volume.
  if ((mode & 0o170000) === 0o120000) return;
  const isDirectory = (mode & 0o170000) === 0o040000;
  await chmod(path, (mode & 0o7777) | mask | (isDirectory ? ENTER | SET_GID : 0));
  if (!isDirectory) return;
  for (const name of await readdir(path)) await change(join(path, name), group, mask);
}
