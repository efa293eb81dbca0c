/** Lists and removes mounts below a folder. */
import { readFile } from "node:fs/promises";
import { run } from "./command.ts";

const AT_ONCE = 100;

export interface MountPoint {
  readonly path: string;
  readonly type: string;
}

/** In the order in which they were mounted. */
export function parseMounts(mountinfo: string): MountPoint[] {
  return mountinfo
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [before = "", after = ""] = line.split(" - ");
      return { path: plainPath(before.split(" ")[4] ?? ""), type: after.split(" ")[0] ?? "" };
    });
}

/** Blanks in a path are escaped as octal numbers. */
function plainPath(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

export async function mounts(): Promise<MountPoint[]> {
  return parseMounts(await readFile("/proc/self/mountinfo", "utf8"));
}

/** In reverse order: a mount may lie on an earlier one. */
export function below(all: readonly MountPoint[], folder: string): string[] {
  return all
    .map(({ path }) => path)
    .filter((path) => path === folder || path.startsWith(`${folder}/`))
    .reverse();
}

/** Default: on the machine. */
export interface Mounted {
  mounts(): Promise<MountPoint[]>;
  run(program: string, args: readonly string[]): Promise<string>;
}

export async function unmountBelow(folder: string, where: Mounted = { mounts, run }): Promise<void> {
  const all = below(await where.mounts(), folder);
  for (let at = 0; at < all.length; at += AT_ONCE) await unmount(all.slice(at, at + AT_ONCE), where);
}

/** A lazy unmount: a mount in use disappears when its last user closes it. */
async function unmount(paths: readonly string[], where: Mounted): Promise<void> {
  try {
    await where.run("umount", paths);
  } catch {
    const left = new Set((await where.mounts()).map(({ path }) => path));
    const stuck = paths.filter((path) => left.has(path));
    if (stuck.length > 0) await where.run("umount", ["--lazy", ...stuck]);
  }
}

/** Mount propagation in both directions between this folder and containers. */
export async function makeShared(folder: string): Promise<void> {
  if ((await mounts()).some(({ path }) => path === folder)) return;
  await run("mount", ["--bind", folder, folder]);
  await run("mount", ["--make-rshared", folder]);
}
