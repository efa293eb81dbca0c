/**
 * What a start finds of an earlier one that was killed, and puts in order before it serves.
 *
 *     frozen file systems ──► thawed
 *     drafts; snapshots without their group; images without a record ──► removed
 *     devices: of no volume, or mounted nowhere ──► detached; mounted ──► kept
 */
import { type DriverContext, volumeImage } from "./context.ts";

export async function reconcile(context: DriverContext, nodeId: string): Promise<void> {
  const { catalog } = context;
  const machine = context.machineOf(nodeId);
  const { images } = machine;
  const mounts = await machine.mounts();
  const devices = await machine.devices();

  for (const { number } of devices) {
    const mounted = mounts.find(({ device }) => device === number);
    if (mounted !== undefined && !mounted.isBlock) await machine.thaw(mounted.path);
    if (mounted === undefined) await machine.detach(number);
  }
  for (const { id, groupId } of [...catalog.snapshots.values()])
    if (groupId !== undefined && !catalog.groups.has(groupId)) await catalog.remove("snapshots", id);
  await images.removeDrafts();
  for (const image of await images.list()) if (!catalog[image.kind].has(image.id)) await images.remove(image);
  // An expansion that was killed after its record.
  for (const { id, bytes } of catalog.volumes.values()) await images.extend(volumeImage(id), bytes);
}
