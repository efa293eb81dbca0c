/**
 * `mkdir -p`. Node's own recursive form never ends where mkdir answers ENOENT although the parent exists, as in /proc.
 */
import { mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/** Creates the folder and its missing parents; an existing folder keeps its mode. */
export async function makeFolder(path: string, mode: number): Promise<void> {
  const missing: string[] = [];
  const whole = resolve(path);
  for (let at = whole; !(await isFolder(at, whole)); at = dirname(at)) missing.unshift(at);
  for (const folder of missing) {
    await mkdir(folder, { mode }).catch(async (error: NodeJS.ErrnoException) => {
      // Another process has just made it.
      if (error.code !== "EEXIST" || !(await isFolder(folder, whole))) throw error;
    });
  }
}

/** Throws if something else is there, or a parent cannot be looked into. `wanted`: with its last part. */
async function isFolder(path: string, wanted: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
  const [code, why] = path === wanted ? ["EEXIST", "file already exists"] : ["ENOTDIR", "not a directory"];
  throw Object.assign(new Error(`${code}: ${why}, mkdir '${path}'`), { code, syscall: "mkdir" });
}
