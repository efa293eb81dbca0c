/** What commands need of real nodes and images. Loaded when first asked for: most commands never do. */
import { existsSync } from "node:fs";
import type { Clock } from "#base";
import type { DataDir } from "./data/data-dir.ts";

export function nodeTools() {
  return import("./nodes/index.ts");
}

export function imageTools() {
  return import("./images/index.ts");
}

/** Ends the nodes of a data directory that no cluster uses, and all that the machine keeps for them. Their disks stay. False if there are none. */
export async function endNodes(dir: DataDir, clock: Clock): Promise<boolean> {
  if (!existsSync(dir.nodes)) return false;
  const { powerOffAll, siteNames } = await nodeTools();
  await powerOffAll(siteNames(dir.path), clock);
  return true;
}
