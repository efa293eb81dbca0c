/**
 * File systems that this machine mounts and makes.
 *
 *     ext4, ext3   grow while they are mounted only for CAP_SYS_RESOURCE, which root in a container may lack
 *     xfs, btrfs   grow for whoever mounts them
 *
 * 1. mkfs.xfs (since 5.19) makes file systems below 300 MiB only for its makers' own tests, which say so in the
 *    environment. The kernel has no such bound. Two groups, not four: those that are added later have the same size.
 *    Larger ones below 1 GiB are made like this, too: otherwise a log of 64 MiB takes up to a quarter of them.
 */
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { FileSystem } from "../rules/file-systems.ts";
import type { RunProgram } from "./command.ts";

const MIB = 1024 ** 2;
const GIB = 1024 * MIB;
const PROGRAMS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const SYS_RESOURCE = 24n;
/** Two groups of the least size. */
const LEAST_XFS = 32 * MIB;
const LEAST_USUAL_XFS = 300 * MIB;
/** The kernel grows to no less. */
const LEAST_BTRFS = 256 * MIB;
const SMALL_XFS = ["TEST_DIR=none", "TEST_DEV=none", "QA_CHECK_FS=1", "mkfs.xfs", "-d", "agcount=2"];

/** `probe`: a sparse file of this size, which is not written to. */
export async function fileSystemsHere(
  run: RunProgram,
  probe: (bytes: number, use: (path: string) => Promise<void>) => Promise<void>,
): Promise<FileSystem[]> {
  const known = readFileSync("/proc/filesystems", "utf8").split(/\s+/);
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...PROGRAMS.split(":")].filter(Boolean);
  const canMake = (type: string) =>
    known.includes(type) && folders.some((folder) => existsSync(join(folder, `mkfs.${type}`)));
  const extGrows = hasSysResource(readFileSync("/proc/self/status", "utf8"));
  const found: FileSystem[] = ["ext4", "ext3"].map((type) => ({ type, leastBytes: 0, growsMounted: extGrows }));
  if (canMake("xfs")) {
    // One that refuses makes larger ones only.
    const makesSmall = probe(LEAST_XFS, (path) => run("env", [...SMALL_XFS, "-N", "-q", path]).then(() => {}));
    const leastBytes = await makesSmall.then(
      () => LEAST_XFS,
      () => LEAST_USUAL_XFS,
    );
    found.push({ type: "xfs", leastBytes, growsMounted: true });
  }
  found.push({ type: "btrfs", leastBytes: LEAST_BTRFS, growsMounted: true });
  return found.filter(({ type }) => canMake(type));
}

/** The program, and its arguments, for a file of this many bytes. */
export function formatCommand(fsType: string, bytes: number, path: string): [string, string[]] {
  // No room for root alone: claims are for Pods. Tables are written when they are used: the image stays small.
  if (fsType.startsWith("ext"))
    return [`mkfs.${fsType}`, ["-F", "-q", "-m", "0", "-E", "lazy_itable_init=1,nodiscard", path]];
  if (fsType === "xfs") {
    const options = ["-f", "-q", "-K", path];
    return bytes < GIB ? ["env", [...SMALL_XFS, ...options]] : ["mkfs.xfs", options];
  }
  return [`mkfs.${fsType}`, ["-f", "-q", "-K", ...(bytes < GIB ? ["--mixed"] : []), path]];
}

/** The program that lets a mounted file system fill its device. */
export function growCommand(fsType: string, devicePath: string, path: string): [string, string[]] {
  if (fsType === "xfs") return ["xfs_growfs", [path]];
  if (fsType === "btrfs") return ["btrfs", ["filesystem", "resize", "max", path]];
  return ["resize2fs", [devicePath]];
}

/** A copy of an xfs has the name of its source, and the kernel mounts one of a name, unless it is told. */
export function mountFlags(fsType: string): string[] {
  return fsType === "xfs" ? ["nouuid"] : [];
}

/** The kernel grows a mounted ext4 only for those who have this capability. */
function hasSysResource(status: string): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0";
  return ((BigInt(`0x${effective}`) >> SYS_RESOURCE) & 1n) === 1n;
}
