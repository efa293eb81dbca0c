/**
 * The folder by which the CSI driver of a node with a user namespace reaches it: the driver is on the machine, since
 * only the machine's root mounts what is on a device.
 *
 *     driver: sockets, mounts ──► folder on the machine, shared --► the same in the node, read-only
 *
 * 1. Nobody but the machine's root writes to the folder. What is mounted there appears in the node, and nothing that
 *    the node mounts appears on the machine.
 */
import { mkdir } from "node:fs/promises";
import type { NodePlace } from "#storage";
import { CommandError, run } from "../machine/command.ts";
import { mounts } from "../machine/mounts.ts";
import type { ProcessId } from "../machine/processes.ts";
import { type NodeNames, VOLUMES_INSIDE } from "../site/names.ts";
import type { IdRange } from "./user-namespace.ts";

type Names = Pick<NodeNames, "outsideVolumes">;

/** Before the node starts. Idempotent. */
export async function ensureOutsideVolumes({ outsideVolumes: { folder } }: Names): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o755 });
  if ((await mounts()).some(({ path }) => path === folder)) return;
  await run("mount", ["--bind", folder, folder]);
  // A peer group of its own, not that of the file system below.
  await run("mount", ["--make-private", folder]);
  await run("mount", ["--make-shared", folder]);
}

/** What the driver knows of the node. `enter`: what a command begins with that runs in it. */
export function nodePlaceOf(
  { outsideVolumes: { folder } }: Names,
  { pid, started }: ProcessId,
  { first }: IdRange,
  enter: readonly string[],
): NodePlace {
  const startTicks = started.split(" ").at(-1) ?? "";
  if (startTicks === "") throw new CommandError(`process ${pid} has no start time`);
  return { pid, startTicks, enter, folder, folderInside: VOLUMES_INSIDE, rootId: first };
}
