/**
 * Devices of the machine that a node's processes may not open, whatever device files they make: disks, and what reads
 * disks or memory by another name. Pure.
 *
 * 1. Files of devices may be made ("m"), but not opened: every container is given that right, and cgroup v1 refuses to
 *    give a right of which the group above lacks a part.

 * 2. Loop devices can be left out, for raw block volumes: where the user says so, since that is all of the machine's.
 * 3. A node may change the rules of its own cgroup with cgroup v1. So the cgroup above, of all nodes, has them too: a
 *    group never gets more than the one above it.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { deviceRoot } from "../machine/cgroups.ts";

export interface DeviceRule {
  readonly allow: boolean;
  readonly type?: "a" | "b" | "c";
  readonly major?: number;
  readonly minor?: number;
  readonly access: string;
}

/** Of block devices, there are no more major numbers than these. */
const BLOCK_MAJORS = 512;
const LOOP = 7;
/** Drivers of character devices by which commands reach a disk, by their names in /proc/devices. */
const DISK_COMMANDS = ["sg", "bsg", "nvme", "nvme-generic", "raw", "mtd", "ubi_ctrl", "device-mapper"];
/** /dev/mem, /dev/kmem, /dev/port. */
const MEMORY = { major: 1, minors: [1, 2, 4] };

/** `devices`: /proc/devices. `opensLoops`: loop devices are left out of it. */
export function deviceRules(devices: string, opensLoops = false): DeviceRule[] {
  const [characters = ""] = devices.split(/^Block devices:$/m);
  const majors = characters.split("\n").flatMap((line) => {
    const [, major, name = ""] = /^\s*(\d+) (\S+)$/.exec(line) ?? [];
    return major !== undefined && DISK_COMMANDS.includes(name) ? [Number(major)] : [];
  });
  const denied = (rule: Omit<DeviceRule, "allow" | "access">): DeviceRule => ({ allow: false, access: "rw", ...rule });
  return [
    { allow: true, access: "rwm" },
    ...blocks(opensLoops).map(denied),
    ...MEMORY.minors.map((minor) => denied({ type: "c", major: MEMORY.major, minor })),
    ...[...new Set(majors)].map((major) => denied({ type: "c", major })),
  ];
}

/** A rule for all cannot have exceptions: to leave out one major number, all others are named. */
function blocks(opensLoops: boolean): Omit<DeviceRule, "allow" | "access">[] {
  if (!opensLoops) return [{ type: "b" }];
  const majors = Array.from({ length: BLOCK_MAJORS }, (_, major) => major).filter((major) => major !== LOOP);
  return majors.map((major) => ({ type: "b", major }));
}

/** Denies in the cgroup of all nodes what each of them is denied. Idempotent. */
export async function guardDevices(siteGroup: string, rules: readonly DeviceRule[]): Promise<void> {
  const root = await deviceRoot();
  if (root === undefined) return; // with cgroup v2, runc's program in the node's group is the guard
  await mkdir(join(root, siteGroup), { recursive: true });
  const opensLoops = rules.some(({ allow, type, major }) => !allow && type === "b" && major !== undefined);
  // An earlier node of the site may not have opened any.
  if (opensLoops) await writeFile(join(root, siteGroup, "devices.allow"), "b *:* rw");
  for (const { allow, type, major = "*", minor = "*", access } of rules) {
    if (!allow && type !== undefined)
      await writeFile(join(root, siteGroup, "devices.deny"), `${type} ${major}:${minor} ${access}`);
  }
}
