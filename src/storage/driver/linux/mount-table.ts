/** /proc/self/mountinfo. Pure. */

const LOOP_MAJOR = 7;

export interface MountLine {
  readonly path: string;
  /** Of the file system: the loop device that it is on, where the kernel gives it a number of its own (btrfs). */
  readonly device: string;
  /** The part of the file system that is mounted. */
  readonly root: string;
  readonly readOnly: boolean;
}

/** In the order in which they were mounted. */
export function parseMountInfo(text: string): MountLine[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [mount = "", fileSystem = ""] = line.split(" - ");
      const [, , device = "", root = "", path = "", options = ""] = mount.split(" ");
      const readOnly = options.split(",").includes("ro");
      return { path: plain(path), device: loopBelow(fileSystem) ?? device, root: plain(root), readOnly };
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
