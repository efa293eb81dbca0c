/** What is mounted where, and unmounting what belongs to the driver. */
import { GrpcError } from "#grpc";
import type { Machine, Mount } from "../machine/machine.ts";

/** The last one covers the others. */
export async function mountAt(machine: Machine, path: string): Promise<Mount | undefined> {
  return (await machine.mounts()).findLast((mount) => mount.path === path);
}

/** Removes the folder or file, too, unless it is to be kept. Mounts of others are refused. */
export async function unmountOwn(machine: Machine, path: string, { keep = false } = {}): Promise<void> {
  const own = new Set((await machine.devices()).map(({ number }) => number));
  const there = (await machine.mounts()).filter((mount) => mount.path === path);
  const foreign = there.find(({ device }) => !own.has(device));
  if (foreign !== undefined)
    throw new GrpcError("FAILED_PRECONDITION", `what is mounted at ${path} is no volume of this driver`);
  await machine.unmount(path, keep);
}
