/**
 * What the driver needs of a machine: images of volumes, loop devices and mounts. One implementation is Linux, another
 * one is in memory.
 *
 * 1. Every step may be repeated, and a kill between two steps leaves nothing that looks finished: files are drafts
 *    until they are renamed.
 * 2. A device is named by its number, "7:5": names of files can be changed by others.
 */
import type { FileSystem } from "../rules/file-systems.ts";

export type ImageKind = "volumes" | "snapshots";

/** The content of a volume or snapshot. */
export interface ImageName {
  readonly kind: ImageKind;
  readonly id: string;
}

export interface Device {
  readonly number: string;
  /** Undefined: its file is no image of the driver, or is deleted. */
  readonly image: ImageName | undefined;
}

export interface Mount {
  readonly path: string;
  /** Of the file system, or of a block device that is mounted on a file. */
  readonly device: string;
  readonly readOnly: boolean;
  /** Not only a folder of it. */
  readonly isWhole: boolean;
  /** The device itself, on a file. */
  readonly isBlock: boolean;
}

export interface MountOptions {
  readonly fsType: string;
  readonly flags: readonly string[];
  readonly readOnly: boolean;
}

export interface Usage {
  readonly totalBytes: number;
  readonly usedBytes: number;
  readonly availableBytes: number;
  readonly totalInodes: number;
  readonly usedInodes: number;
  readonly availableInodes: number;
}

/** No room on the disk, as opposed to other failures. */
export class NoSpaceError extends Error {
  override readonly name = "NoSpaceError";
}

/** Of a system call. */
export function isFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
}

export interface Images {
  /** Copies share blocks with their source until they are written to. */
  readonly sharesBlocks: boolean;
  list(): Promise<readonly ImageName[]>;
  /** Removes what was never finished. */
  removeDrafts(): Promise<void>;
  /** An image of zeros. Replaces one that exists. */
  allocate(image: ImageName, bytes: number): Promise<void>;
  /** A copy of another image, which may be larger. Replaces one that exists. */
  copy(from: ImageName, to: ImageName, bytes: number, signal: AbortSignal): Promise<void>;
  /** Replaces the image by one with an empty file system. It is not attached. */
  format(image: ImageName, bytes: number, fsType: string, signal: AbortSignal): Promise<void>;
  /** The file system in it; undefined if there is none. */
  fsTypeOf(image: ImageName): Promise<string | undefined>;
  extend(image: ImageName, bytes: number): Promise<void>;
  /** The file system in it fills this many bytes. It is not attached. */
  grow(image: ImageName, fsType: string, bytes: number, signal: AbortSignal): Promise<void>;
  remove(image: ImageName): Promise<void>;
  /** Undefined if there is none. */
  sizeOf(image: ImageName): Promise<{ readonly bytes: number; readonly allocated: number } | undefined>;
  freeBytes(): Promise<number>;
}

export interface Machine {
  /** Those that can be made here. */
  readonly fileSystems: readonly FileSystem[];
  /** Why Pods cannot have block devices here, as the end of a sentence. */
  readonly blockProblem: string | undefined;
  /** Whether volumes may be mounted with this option. Default: with any. */
  readonly allowsMountFlag?: ((flag: string) => boolean) | undefined;
  /**
   * Whether the kernel may look for a file system in what a Pod wrote to a block device, and Pods may write to the
   * device of a file system. Default: yes.
   */
  readonly trustsContent?: boolean | undefined;
  /** Volumes that can be attached at a time; 0: no limit. */
  readonly maxDevices: number;
  readonly images: Images;

  devices(): Promise<readonly Device[]>;
  /** Returns the device's number. An image that is attached keeps its device. */
  attach(image: ImageName, readOnly: boolean): Promise<string>;
  detach(device: string): Promise<void>;
  /** After its image has grown. */
  refresh(device: string): Promise<void>;

  mounts(): Promise<readonly Mount[]>;
  /** Makes the folder. */
  mount(device: string, path: string, options: MountOptions): Promise<void>;
  /** Makes the folder. */
  bind(from: string, path: string, readOnly: boolean): Promise<void>;
  /** Makes the file, and its folder. */
  bindDevice(device: string, path: string): Promise<void>;
  /** Until nothing is mounted there; then removes the empty folder or file, unless it is to be kept. */
  unmount(path: string, keep?: boolean): Promise<void>;
  /** The file system fills its device. It is mounted at the path. */
  growFileSystem(fsType: string, device: string, path: string, signal: AbortSignal): Promise<void>;
  /** Nothing is written to the file system until it is thawed. */
  freeze(path: string): Promise<void>;
  /** Does nothing if it is not frozen. */
  thaw(path: string): Promise<void>;
  /** Writes what is in memory to the image. */
  flush(device: string): Promise<void>;
  /** Of a mounted file system. */
  usage(path: string): Promise<Usage>;
}
