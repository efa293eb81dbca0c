/**
 * Copies of volumes at one moment: while they are copied, nobody can write to their file systems.
 *
 *     freeze all ──► copy all ──► thaw all
 *
 * 1. Thawed also after a failure. After a kill the next start thaws.
 * 2. A raw block volume cannot be frozen: its copy is what a crash would leave behind.
 */
import type { ImageName, Machine } from "../machine/machine.ts";
import { type DriverContext, deviceOf, volumeImage } from "./context.ts";

export interface StillCopy {
  readonly volumeId: string;
  readonly to: ImageName;
  readonly bytes: number;
}

/** All volumes are on the node. */
export async function copyWhileStill(
  context: DriverContext,
  node: string,
  copies: readonly StillCopy[],
  signal: AbortSignal,
): Promise<void> {
  const machine = context.machineOf(node);
  const frozen: string[] = [];
  try {
    for (const { volumeId } of copies) {
      const device = await deviceOf(machine, volumeId);
      if (device === undefined) continue;
      const path = await fileSystemOn(machine, device.number);
      if (path !== undefined) {
        frozen.push(path);
        await machine.freeze(path);
      }
      await machine.flush(device.number);
    }
    for (const { volumeId, to, bytes } of copies) await machine.images.copy(volumeImage(volumeId), to, bytes, signal);
  } finally {
    for (const path of frozen.reverse()) await machine.thaw(path);
  }
}

/** Where the device's file system is mounted; undefined if Pods have the device itself, or nobody has it. */
async function fileSystemOn(machine: Machine, device: string): Promise<string | undefined> {
  return (await machine.mounts()).find((mount) => mount.device === device && !mount.isBlock)?.path;
}
