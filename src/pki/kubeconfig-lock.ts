/**
 * The lock that client-go takes on a kubeconfig before it changes it: a file `<kubeconfig>.lock`, there or not.
 *
 * 1. kubectl gives up at once when it is taken; here it is waited for, but not for long: one that stays was left by a
 *    process that died, and only a person can tell.
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
