/**
 * Removes what earlier builds have left in dist/.
 *
 * 1. A running process may have started from an earlier build, and loads its chunks on demand: while one runs, all
 *    chunks stay.
 * 2. What belonged to a build a moment ago stays as well: somebody may be about to start from it.
 */
import { readdir, readFile, realpath, rm, stat } from "node:fs/promises";
import { join, sep } from "node:path";

const MOMENT_MS = 60_000;

/** `current`: names of what belongs there. Files are dated by the last build that they belonged to. */
export async function removeStale(dist: string, current: ReadonlySet<string>, nowMs: number): Promise<void> {
  const files = (await readdir(dist, { withFileTypes: true })).filter((entry) => entry.isFile());
  const stale: string[] = [];
  for (const { name } of files) {
    if (current.has(name)) continue;
    const path = join(dist, name);
    const info = await stat(path).catch(unlessGone);
    if (info !== undefined && nowMs - info.mtimeMs > MOMENT_MS) stale.push(path);
  }
  if (stale.length === 0 || (await isRunning(await realpath(dist)))) return;
  for (const path of stale) await rm(path, { force: true });
}

/** Whether a process was started with a file of that folder. */
async function isRunning(folder: string): Promise<boolean> {
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const words = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(unlessGone)) ?? "";
    if (words.split("\0").some((word) => word.startsWith(folder + sep))) return true;
  }
  return false;
}

/** Another build, or the end of a process, may have been faster; and some systems show nobody what others run. */
function unlessGone(error: NodeJS.ErrnoException): undefined {
  if (!["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(error.code ?? "")) throw error;
}
