/** Access to real nodes, images and etcd for commands. Loaded on demand: most commands do not need it. */
import { existsSync } from "node:fs";
import type { Clock } from "#base";
import type { DataDir } from "./data/data-dir.ts";

export function nodeTools() {
  return import("./nodes/index.ts");
}

export function imageTools() {
  return import("./images/index.ts");
}

export function etcdTools() {
  return import("./etcd/index.ts");
}

/** For machines that become control planes. */
export function controlPlaneTools() {
  return import("./control-plane/index.ts");
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
