/** Sockets of plugins that knew an earlier kubelet: a plugin sees that its own is gone, and registers again. */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { CHECKPOINT_FILE } from "./checkpoint.ts";

export async function removeSockets(dir: string): Promise<void> {
  const entries = await readdir(dir, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  for (const entry of entries)
    if (!entry.isDirectory() && entry.name !== CHECKPOINT_FILE) await rm(join(dir, entry.name), { force: true });
}
