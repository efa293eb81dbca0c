/** /proc/self/mountinfo. Pure. */

const LOOP_MAJOR = 7;

export interface MountLine {
  readonly path: string;
  /** Of the file system: the loop device that it is on, where the kernel gives it a number of its own (btrfs). */
  readonly device: string;
  /** The part of the file system that is mounted. */
  readonly root: string;
  readonly readOnly: boolean;
  /** Of this mount, not of the file system. */
  readonly options: readonly string[];
  readonly fsType: string;
  /** Nobody writes to the file system, wherever it is mounted. */
  readonly isReadOnlyEverywhere: boolean;
}

/** In the order in which they were mounted. */
export function parseMountInfo(text: string): MountLine[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [mount = "", fileSystem = ""] = line.split(" - ");
      const [, , device = "", root = "", path = "", ofMount = ""] = mount.split(" ");
      const [fsType = "", , ofAll = ""] = fileSystem.split(" ");
      const options = ofMount.split(",");
      return {
        ...{ path: plain(path), device: loopBelow(fileSystem) ?? device, root: plain(root), options, fsType },
        readOnly: options.includes("ro"),
        isReadOnlyEverywhere: ofAll.split(",").includes("ro"),
      };
    });
}

/** Type and source: such a file system names its device, and has the number of no device. */
function loopBelow(fileSystem: string): string | undefined {
  const [, minor] = /^btrfs \S*\/loop(\d+) /.exec(fileSystem) ?? [];
  return minor && `${LOOP_MAJOR}:${minor}`;
}

/** Blanks in a path are escaped as octal numbers. */
function plain(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
