/** Room on a node's disk: what is left of it, and what calls in progress have asked for. */
import { availableBytes, type Burden, ensureRoom } from "../rules/sizes.ts";
import { type DriverContext, snapshotImage, volumeImage } from "./context.ts";

export async function roomOn(context: DriverContext, node: string): Promise<number> {
  return Math.max(0, await leftOn(context, node));
}

/** Runs the work while the bytes are reserved. */
export async function reserving<T>(
  context: DriverContext,
  node: string,
  bytes: number,
  work: () => Promise<T>,
): Promise<T> {
  const { reserved } = context;
  const add = (more: number) => void reserved.set(node, (reserved.get(node) ?? 0) + more);
  add(bytes);
  try {
    ensureRoom(bytes, Math.max(0, (await leftOn(context, node)) + bytes));
    return await work();
  } finally {
    add(-bytes);
  }
}

/** Less than zero if calls in progress ask for more than there is. */
async function leftOn(context: DriverContext, node: string): Promise<number> {
  const { images } = context.machineOf(node);
  const { volumes, snapshots } = context.catalog;
  const allocated = async (image: ReturnType<typeof volumeImage>) => (await images.sizeOf(image))?.allocated ?? 0;
  const burdens: Burden[] = [];
  for (const { id, bytes, node: owner, source } of volumes.values()) {
    if (owner !== node) continue;
    // Blocks that are shared with a source belong to the source: writing to them takes new ones.
    const isShared = images.sharesBlocks && source !== undefined;
    burdens.push({ promised: bytes, allocated: isShared ? 0 : await allocated(volumeImage(id)) });
  }
  for (const { id, node: owner } of images.sharesBlocks ? snapshots.values() : [])
    if (owner === node) burdens.push({ promised: await allocated(snapshotImage(id)), allocated: 0 });
  const available = availableBytes(await images.freeBytes(), burdens, context.capacityBytes);
  return available - (context.reserved.get(node) ?? 0);
}
