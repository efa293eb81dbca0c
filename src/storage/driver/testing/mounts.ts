/** Whether this machine lets the driver mount. */
import { accessSync, constants, existsSync, readFileSync } from "node:fs";

/** Why it does not, as a sentence; empty if it does. */
export function missingForMounts(): string {
  if (process.getuid?.() !== 0) return "mounts need root.";
  try {
    accessSync("/dev/loop-control", constants.R_OK | constants.W_OK);
    return "";
  } catch {
    return "there are no loop devices here.";
  }
}

/** Whether a volume that names no file system grows while it is mounted: as ext4 by CAP_SYS_RESOURCE, or as xfs. */
export function growsMounted(): boolean {
  const effective = /^CapEff:\s*(\S+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  return ((BigInt(`0x${effective}`) >> 24n) & 1n) === 1n || canMake("xfs");
}

/** Whether this machine mounts and makes it. */
export function canMake(fsType: string): boolean {
  const isKnown = readFileSync("/proc/filesystems", "utf8").split(/\s+/).includes(fsType);
  return isKnown && ["/usr/sbin", "/sbin", "/usr/bin", "/bin"].some((dir) => existsSync(`${dir}/mkfs.${fsType}`));
}
