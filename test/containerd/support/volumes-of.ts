/** Where the driver of a node is, and what it keeps: in the node, or beside it if the node has a user namespace. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { NodeNames } from "../../../src/cluster/nodes/index.ts";
import { DRIVER_NAME } from "../../../src/storage/index.ts";

/** Of the driver, on this machine. */
export function driverSocketOf({ kubeletRoot, outsideVolumes }: NodeNames): string {
  const outside = join(outsideVolumes.folder, "csi.sock");
  return existsSync(outside) ? outside : join(kubeletRoot, "plugins", DRIVER_NAME, "csi.sock");
}

/** The folder of its records and images. */
export function driverStateOf({ volumesDir, outsideVolumes }: NodeNames): string {
  return existsSync(outsideVolumes.dir) ? outsideVolumes.dir : volumesDir;
}
