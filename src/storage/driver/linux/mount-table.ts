/** /proc/self/mountinfo. Pure. */

export interface MountLine {
  readonly path: string;
  /** Of the file system. */
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
      const [, , device = "", root = "", path = "", options = ""] = (line.split(" - ")[0] ?? "").split(" ");
      const readOnly = options.split(",").includes("ro");
      return { path: plain(path), device, root: plain(root), readOnly };
    });
}

/** Blanks in a path are escaped as octal numbers. */
function plain(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
