/** Whether this machine lets the driver mount. */
import { accessSync, constants, readFileSync } from "node:fs";

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

/** Whether the kernel lets this process grow a mounted ext4: CAP_SYS_RESOURCE. */
export function growsMounted(): boolean {
  const effective = /^CapEff:\s*(\S+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  return ((BigInt(`0x${effective}`) >> 24n) & 1n) === 1n;
}
