/**
 * store.json: which store has the state of the cluster. A start without flags uses it, and one that names another is
 * refused: it would begin an empty cluster beside the real one.
 *
 * 1. `k8ts migrate` replaces it as its last step, at once: before, the source is in use, after, the target.
 */
import { readFile } from "node:fs/promises";
import type { StoreConfig } from "../config/cluster-config.ts";
import { ClusterError } from "../config/errors.ts";
import { type DataDir, writeFileAtomic } from "./data-dir.ts";

export async function readStoreRecord({ storeRecord }: DataDir): Promise<StoreConfig | undefined> {
  const text = await readFile(storeRecord, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw new ClusterError(`${storeRecord} cannot be read: ${error.message}.`, { cause: error });
  });
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as StoreConfig;
  } catch (cause) {
    throw new ClusterError(`${storeRecord} is damaged: restore that file.`, { cause });
  }
}

/** A store in memory has nothing to come back to. */
export async function writeStoreRecord({ storeRecord }: DataDir, store: StoreConfig): Promise<void> {
  if (store.kind !== "memory") await writeFileAtomic(storeRecord, `${JSON.stringify(store, undefined, 2)}\n`);
}
