/** What a volume of a Pod has and uses. Figures that are not known are absent. */
import { statfs } from "node:fs/promises";
import { diskUse } from "../host/index.ts";

export interface VolumeFigures {
  readonly capacityBytes?: number | undefined;
  readonly availableBytes?: number | undefined;
  readonly usedBytes?: number | undefined;
  readonly inodes?: number | undefined;
  readonly inodesFree?: number | undefined;
  readonly inodesUsed?: number | undefined;
}

export interface VolumeCondition {
  readonly abnormal: boolean;
  readonly message: string;
}

export interface VolumeUsage extends VolumeFigures {
  readonly name: string;
  readonly claim?: { readonly name: string; readonly namespace: string } | undefined;
  readonly atMs: number;
  /** Whether something is wrong with it, where its driver says so. */
  readonly abnormal?: boolean | undefined;
  /** What is wrong, in the driver's words. */
  readonly message?: string | undefined;
  /** It counts as the Pod's own use of the node's disk. */
  readonly isLocal: boolean;
}

/** A file system of its own: all of it is the volume's. */
export async function filesystemFigures(path: string): Promise<VolumeFigures> {
  const { bsize, blocks, bavail, bfree, files, ffree } = await statfs(path);
  return {
    capacityBytes: blocks * bsize,
    availableBytes: bavail * bsize,
    usedBytes: (blocks - bfree) * bsize,
    inodes: files,
    inodesFree: ffree,
    inodesUsed: files - ffree,
  };
}

/** A folder on a file system with others. */
export async function folderFigures(path: string): Promise<VolumeFigures> {
  const [{ bytes, inodes }, all] = await Promise.all([diskUse(path), filesystemFigures(path)]);
  return { ...all, usedBytes: bytes, inodesUsed: inodes };
}
