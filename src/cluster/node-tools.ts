/** Access to real nodes and images for commands. Loaded on demand: most commands do not need it. */
import { existsSync } from "node:fs";
import type { Clock } from "#base";
import type { DataDir } from "./data/data-dir.ts";

export function nodeTools() {
  return import("./nodes/index.ts");
}

export function imageTools() {
  return import("./images/index.ts");
}

/** For machines that join a cluster. */
export function workerTools() {
  return import("./machines/worker.ts");
}

/** Powers off the nodes of a data directory without a running cluster. Their disks stay. False if there are none. */
export async function endNodes(dir: DataDir, clock: Clock): Promise<boolean> {
  if (!existsSync(dir.nodes)) return false;
  const { powerOffAll, siteNames } = await nodeTools();
  await powerOffAll(siteNames(dir.path), clock);
  return true;
}
