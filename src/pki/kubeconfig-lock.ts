/**
 * The lock that client-go takes on a kubeconfig before it changes it: a file `<kubeconfig>.lock`, there or not.
 *
 * 1. kubectl fails at once when it is taken; here it is awaited for a short time. A lock that stays was left by a
 *    process that died: the user has to remove it.
 */

import { open, rm } from "node:fs/promises";
import type { Clock } from "#base";
import { PkiError } from "./errors.ts";
import { errorCode, fileError } from "./files.ts";

const PATIENCE_MS = 3000;
const PAUSE_MS = 50;

export async function withKubeconfigLock<T>(file: string, clock: Clock, work: () => Promise<T>): Promise<T> {
  const lock = `${file}.lock`;
  const deadline = clock.monotonic() + PATIENCE_MS;
  while (!(await taken(lock))) {
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
    await (await open(lock, "wx", 0)).close();
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw fileError("make", lock, error);
  }
}
