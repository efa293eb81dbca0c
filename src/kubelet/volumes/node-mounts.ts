/**
 * Volumes that the node itself mounts for a Pod, without a driver: nfs and local.
 *
 *     nfs    server:/export ──► the Pod's folder
 *     local  folder ──► bind mount in the Pod's folder ──► fsGroup, if no other Pod has it
 *            block device ──► formatted, unless it holds something ──► the Pod's folder, as before
 *
 * 1. What is mounted already stays as it is. `unmount` of the Pod takes it down like everything below the Pod's folder.
 */
import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { core } from "#api";
import { type Mounter, volumeDirectory } from "../host/index.ts";
import { giveToGroup } from "./ownership.ts";
import { VolumeError } from "./volume-error.ts";

export interface NodeMounts {
  readonly root: string;
  readonly mounter: Mounter;
}

/** Of a Pod's volume, or of a PersistentVolume. */
export interface NamedSource<T> {
  readonly name: string;
  readonly source: T;
  readonly readOnly: boolean;
  readonly mountOptions?: readonly string[] | undefined;
}

const FOLDER_MODE = 0o750;
const DEFAULT_FS = "ext4";

export async function nfsVolume(
  { root, mounter }: NodeMounts,
  { metadata }: core.Pod,
  { name, source, readOnly, mountOptions = [] }: NamedSource<core.NFSVolumeSource>,
): Promise<string> {
  const path = volumeDirectory(root, metadata.uid ?? "", "nfs", name);
  if (await isMounted(mounter, path)) return path;
  await mkdir(path, { recursive: true, mode: FOLDER_MODE });
  const server = source.server.includes(":") ? `[${source.server}]` : source.server;
  const options = [...mountOptions, ...(readOnly ? ["ro"] : [])];
  await mounter.mount({ type: "nfs", source: `${server}:${source.path}`, options }, path);
  return path;
}

/** For file systems; a raw device is given to containers as it is. */
export async function localVolume(
  { root, mounter }: NodeMounts,
  pod: core.Pod,
  { name, source, readOnly, mountOptions = [] }: NamedSource<core.LocalVolumeSource>,
): Promise<string> {
  const path = volumeDirectory(root, pod.metadata.uid ?? "", "local-volume", name);
  if (await isMounted(mounter, path)) return path;
  const found = await localPath(source.path);
  const isShared = await isUsedByOthers({ root, mounter }, name);
  await mkdir(path, { recursive: true, mode: FOLDER_MODE });
  const options = [...mountOptions, ...(readOnly ? ["ro"] : [])];
  if (found.isBlockDevice()) {
    const type = source.fsType || DEFAULT_FS;
    await mounter.format(source.path, type);
    await mounter.mount({ type, source: source.path, options }, path);
  } else await mounter.mount({ type: "bind", source: source.path, options: ["bind", ...options] }, path);
  const { fsGroup, fsGroupChangePolicy } = pod.spec?.securityContext ?? {};
  if (fsGroup !== undefined && !readOnly && !isShared)
    await giveToGroup(path, {
      group: Number(fsGroup),
      readOnly: false,
      onRootMismatch: fsGroupChangePolicy === "OnRootMismatch",
    });
  return path;
}

/** Throws VolumeError if there is nothing. */
export async function localPath(path: string) {
  return stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") throw new VolumeError(`path ${JSON.stringify(path)} does not exist`, { cause: error });
    throw error;
  });
}

async function isMounted(mounter: Mounter, path: string): Promise<boolean> {
  return (await mounter.below(path)).includes(path);
}

/** Another Pod has the same volume: its group stays. */
async function isUsedByOthers({ root, mounter }: NodeMounts, name: string): Promise<boolean> {
  const uids = await readdir(join(root, "pods")).catch(() => []); // the first Pod of the node
  const places = new Set(uids.map((uid) => volumeDirectory(root, uid, "local-volume", name)));
  return (await mounter.below(join(root, "pods"))).some((mounted) => places.has(mounted));
}
