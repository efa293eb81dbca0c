/** What the driver has on this machine: mounts and loop devices below a folder. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseMountInfo } from "../linux/mount-table.ts";

export function ownMounts(dir: string): string[] {
  return parseMountInfo(readFileSync("/proc/self/mountinfo", "utf8"))
    .map(({ path }) => path)
    .filter((path) => path.startsWith(`${dir}/`));
}

/** Files behind loop devices. */
export function ownLoops(dir: string): string[] {
  const all = existsSync("/sys/block") ? readdirSync("/sys/block").filter((name) => name.startsWith("loop")) : [];
  return all
    .map((name) => join("/sys/block", name, "loop/backing_file"))
    .flatMap((file) => {
      try {
        return [readFileSync(file, "utf8").trimEnd()];
      } catch {
        return []; // it is free
      }
    })
    .filter((file) => file.startsWith(`${dir}/`));
}

/** Removes them, and says which there were. */
export function removeLeftovers(dir: string): string[] {
  const found = [...ownMounts(dir), ...ownLoops(dir)];
  for (const path of ownMounts(dir).reverse()) execFileSync("umount", ["--lazy", path]);
  for (const file of new Set(ownLoops(dir))) {
    const [device = ""] = execFileSync("losetup", ["--associated", file], { encoding: "utf8" }).split(":");
    if (device !== "") execFileSync("losetup", ["--detach", device]);
  }
  return found;
}
