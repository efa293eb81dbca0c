/**
 * The CSI volumes that are on the disk of a node, as this kubelet or one before it has left them.
 *
 * 1. Nothing but empty folders and the kubelet's own files is removed: what is below a mount is not ours.
 */
import { readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { csiVolumeName } from "#api";
import * as paths from "./paths.ts";
import { readVolumeData, type VolumeData } from "./volume-data.ts";

/** In the Node's status. */
export function nameOf({ driverName: driver, volumeHandle }: VolumeData): string {
  return csiVolumeName({ driver, volumeHandle });
}

export interface PublishedOnDisk {
  readonly data: VolumeData;
  readonly target: string;
  /** Of the Pod. */
  readonly directory: string;
  readonly isBlock: boolean;
}

/** The CSI volumes of a Pod that are on the disk. */
export async function volumesOn(root: string, uid: string): Promise<PublishedOnDisk[]> {
  const found: PublishedOnDisk[] = [];
  for (const name of await entries(paths.csiVolumesOfPod(root, uid))) {
    const directory = join(paths.csiVolumesOfPod(root, uid), name);
    const data = await readVolumeData(directory);
    if (data === undefined) await rm(directory, { recursive: true, force: true });
    else found.push({ data, target: join(directory, "mount"), directory, isBlock: false });
  }
  for (const name of await entries(paths.devicesOfPod(root, uid))) {
    const directory = join(paths.devicesOfPod(root, uid), name);
    const data = await readVolumeData(paths.blockDataDirectory(root, name));
    if (data === undefined) await rm(directory, { force: true });
    else found.push({ data, target: paths.blockPublishPath(root, name, uid), directory, isBlock: true });
  }
  return found;
}

export async function forget({ target, directory, isBlock }: PublishedOnDisk): Promise<void> {
  await removeEmpty(target);
  if (isBlock) await rm(directory, { force: true });
  else {
    await rm(join(directory, "vol_data.json"), { force: true });
    await removeEmpty(directory);
  }
}

/** Whether a Pod has it, apart from the one that asks. */
export async function isUsed(
  root: string,
  { driverName, volumeHandle }: Pick<VolumeData, "driverName" | "volumeHandle">,
  besides = "",
): Promise<boolean> {
  return (await usersOf(root, { driverName, volumeHandle }, besides)).length > 0;
}

/** As Pods have it, apart from the one that asks. */
export async function usersOf(
  root: string,
  { driverName, volumeHandle }: Pick<VolumeData, "driverName" | "volumeHandle">,
  besides = "",
): Promise<readonly VolumeData[]> {
  const uids = (await entries(join(root, "pods"))).filter((uid) => uid !== besides);
  const volumes = await Promise.all(uids.map((uid) => volumesOn(root, uid)));
  return volumes
    .flat()
    .map(({ data }) => data)
    .filter((data) => data.driverName === driverName && data.volumeHandle === volumeHandle);
}

/** Names of volumes that are attached for Pods, as the disk has them. */
export async function volumesInUse(root: string): Promise<string[]> {
  const names = new Set<string>();
  for (const uid of await entries(join(root, "pods"))) {
    for (const { data } of await volumesOn(root, uid)) {
      if (data.volumeLifecycleMode === "Persistent") names.add(nameOf(data));
    }
  }
  return [...names];
}

/** Never more than an empty folder, or a file that was a mount point: what is below a mount is not ours. */
export async function removeEmpty(path: string): Promise<void> {
  await rmdir(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === "ENOTDIR") await rm(path, { force: true });
    else if (error.code !== "ENOENT" && error.code !== "ENOTEMPTY") throw error;
  });
}

async function entries(directory: string): Promise<string[]> {
  return readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  });
}
