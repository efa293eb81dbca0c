/**
 * The lock that client-go takes on a kubeconfig before it changes it: a file `<kubeconfig>.lock`, there or not.
 *
 * 1. kubectl fails at once when it is taken; here it is awaited for a short time.
 * 2. Ours names the process that holds it: one that was left behind by a process that died is taken over. A process is
 *    known by its PID, start time and boot, as a PID may be reused.
 * 3. One that names nobody is kubectl's. If it stays, the user has to remove it.
 */

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { open, readFile, rename, rm } from "node:fs/promises";
import type { Clock } from "#base";
import { PkiError } from "./errors.ts";
import { errorCode, fileError, PRIVATE_FILE } from "./files.ts";

const PATIENCE_MS = 3000;
const PAUSE_MS = 50;

export async function withKubeconfigLock<T>(file: string, clock: Clock, work: () => Promise<T>): Promise<T> {
  const lock = `${file}.lock`;
  const deadline = clock.monotonic() + PATIENCE_MS;
  while (!(await taken(lock))) {
    if (await removedLeftBehind(lock)) continue;
    if (clock.monotonic() >= deadline) {
      throw new PkiError(
        `${file} is locked: if no kubectl is changing it now, ${lock} was left behind and can be removed.`,
      );
    }
    await clock.sleep(PAUSE_MS);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

async function taken(lock: string): Promise<boolean> {
  try {
    await using file = await open(lock, "wx", PRIVATE_FILE);
    await file.writeFile(`k8ts ${process.pid} ${startOf(process.pid)}\n`);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw fileError("make", lock, error);
  }
}

/** Renamed first: what another process makes meanwhile under the lock's name stays. */
async function removedLeftBehind(lock: string): Promise<boolean> {
  const text = await readFile(lock, "utf8").catch(() => ""); // it has just been removed, or is another user's
  if (!isLeftBehind(text)) return false;
  const aside = `${lock}.${randomBytes(6).toString("hex")}`;
  await rename(lock, aside).catch(() => undefined); // another process has just removed it
  const moved = await readFile(aside, "utf8").catch(() => undefined);
  await rm(aside, { force: true });
  return moved === text;
}

/** Whether a lock of ours names a process that is gone. */
export function isLeftBehind(text: string): boolean {
  const [, pid, start] = /^k8ts (\d+) (.*)\n$/.exec(text) ?? [];
  if (pid === undefined) return false;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    return errorCode(error) === "ESRCH";
  }
  return startOf(Number(pid)) !== start;
}

/** Boot and start time, where the system says. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${ticks}`;
  } catch {
    return "unknown"; // not Linux: the PID decides alone
  }
}
