/** Where the driver's mounts are: in the namespace of this process, or in that of the node whose volumes it makes. */
import type { MountOptions, Usage } from "../machine/machine.ts";
import type { MountLine } from "./mount-table.ts";

/** Paths are those of the namespace, unless a parameter says something else. */
export interface MountSpace {
  /** In the order in which they were mounted. */
  lines(): Promise<readonly MountLine[]>;
  /** `devicePath`: its file here. Makes the folder. */
  mount(devicePath: string, path: string, options: MountOptions): Promise<void>;
  /** Makes the folder. */
  bind(from: string, path: string, readOnly: boolean): Promise<void>;
  /** Makes the file, and its folder. `devicePath`: as for `mount`. */
  bindDevice(devicePath: string, path: string): Promise<void>;
  /** The number of the block device that is mounted on a file; undefined if it is none. */
  blockDeviceAt(line: MountLine): Promise<string | undefined>;
  /** The uppermost mount there. */
  unmount(path: string): Promise<void>;
  /** Never more than an empty folder, or a file that was a mount point. */
  removeEmpty(path: string): Promise<void>;
  /** `here`: where programs of this machine find the file system that is mounted at the path. */
  reach(path: string, use: (here: string) => Promise<void>): Promise<void>;
  usage(path: string): Promise<Usage>;
}
