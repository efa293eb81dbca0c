/**
 * The loop devices of a node's volumes.
 *
 *     claim: numbers that no other node of this machine has ──► a cgroup whose processes may open them ──► CSI driver
 *     power-off ──► detached, removed ──► the claim ends
 *
 * 1. A node's processes may open no disk, and so no loop device. The CSI driver alone is in a cgroup of its own, beside
 *    the node's: there it may open the node's loop devices, and nothing else that leads to a disk. A hostile Pod that
 *    takes over the driver gets at the volumes of its own node, which it sees anyway.
 *    With `--node-loop-devices`, all of the node may open loop devices, for raw block volumes.
 * 2. A claim is a link with the node's name: made at once, and found after a crash.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "#base";
import { deviceRoot, unifiedRoot } from "../machine/cgroups.ts";
import { CommandError, run } from "../machine/command.ts";
import { LOOP_CLAIMS, type NodeNames } from "../site/names.ts";
import { makeDeviceGroup } from "./device-program.ts";
import type { DeviceRule } from "./devices.ts";

/** Volumes of a node that can be in use at a time. */
export const LOOPS = 64;
/** Below are those that programs of the machine get. */
const LOWEST = 1024;
const RANGES = 8192;
export const LOOP_MAJOR = 7;
const PATIENCE_MS = 3_000;
const RETRY_MS = 20;
/** LOOP_CTL_REMOVE. */
export const REMOVE =
  "open(my $control, '+<', '/dev/loop-control') or exit 1; for (@ARGV) { ioctl($control, 0x4C81, int($_)) }";

/** null, zero, full, random, urandom; tty, ptmx, pts; loop-control. All may be made, as everywhere in the node. */
const CHARACTERS: readonly (readonly [major: number, minor?: number])[] = [
  ...([3, 5, 7, 8, 9] as const).map((minor) => [1, minor] as const),
  ...[[5, 0] as const, [5, 2] as const, [136] as const, [10, 237] as const],
];

/** Besides that all is denied. Pure. */
export function volumeDeviceRules(firstLoop: number): DeviceRule[] {
  const allowed = (type: "b" | "c", access: string, major?: number, minor?: number): DeviceRule => ({
    ...{ allow: true, type, access, ...(major !== undefined && { major }), ...(minor !== undefined && { minor }) },
  });
  return [
    allowed("c", "m"),
    allowed("b", "m"),
    ...CHARACTERS.map(([major, minor]) => allowed("c", "rw", major, minor)),
    ...numbersFrom(firstLoop).map((minor) => allowed("b", "rw", LOOP_MAJOR, minor)),
  ];
}

/** As the files of cgroup v1 take it. */
export function ruleText({ type = "a", major, minor, access }: DeviceRule): string {
  return `${type} ${major ?? "*"}:${minor ?? "*"} ${access}`;
}

/** Why an isolated node cannot have volumes on this machine, as a sentence. */
export async function volumeObstacle(): Promise<string | undefined> {
  if ((await deviceRoot()) !== undefined || (await unifiedRoot()) !== undefined) return undefined;
  return "this machine has no cgroups for devices, by which the driver alone gets loop devices";
}

/** The first of the node's loop devices. The same again, while its claim lasts. */
export async function claimLoops({ id }: Pick<NodeNames, "id">): Promise<number> {
  await mkdir(LOOP_CLAIMS, { recursive: true, mode: 0o755 });
  const known = await claimOf(id);
  if (known !== undefined) return known;
  const start = createHash("sha256").update(id).digest().readUInt32BE(0) % RANGES;
  for (let at = 0; at < RANGES; at++) {
    const first = LOWEST + ((start + at) % RANGES) * LOOPS;
    if (!(await claim(first, id))) continue;
    if (boundLoops(first).length === 0) return first;
    await rm(claimFile(first), { force: true });
  }
  throw new Error("all loop devices of this machine are claimed");
}

/** Idempotent. */
export async function ensureVolumesGroup({ volumesCgroup }: Pick<NodeNames, "volumesCgroup">, firstLoop: number) {
  const rules = volumeDeviceRules(firstLoop);
  const root = await deviceRoot();
  if (root === undefined) {
    if (!existsSync(join((await unifiedRoot()) ?? "/", volumesCgroup))) await makeDeviceGroup(volumesCgroup, rules);
    return;
  }
  const group = join(root, volumesCgroup);
  if (existsSync(group)) return;
  await mkdir(group, { recursive: true });
  await writeFile(join(group, "devices.deny"), "a");
  for (const rule of rules) await writeFile(join(group, "devices.allow"), ruleText(rule));
}

/** The node's processes have ended. */
export async function releaseLoops({ id, volumesDir }: Pick<NodeNames, "id" | "volumesDir">, clock: Clock) {
  // Of a node that shares the machine's files: any device with an image of the node.
  const listed = await run("losetup", ["--list", "--noheadings", "--output", "NAME,BACK-FILE"]).catch(nothing);
  for (const line of listed.split("\n")) {
    const [device = "", file = ""] = line.trim().split(/\s+/);
    if (file.startsWith(`${volumesDir}/`)) await detach(device);
  }
  const first = await claimOf(id);
  if (first === undefined) return;
  const deadline = clock.monotonic() + PATIENCE_MS;
  // The kernel still drops the node's mounts.
  while (boundLoops(first).length > 0 && clock.monotonic() < deadline) {
    for (const minor of boundLoops(first)) await withDevice(minor, detach);
    await clock.sleep(RETRY_MS);
  }
  const made = numbersFrom(first).filter((minor) => existsSync(`/sys/dev/block/${LOOP_MAJOR}:${minor}`));
  // Without perl they stay, free.
  if (made.length > 0) await run("perl", ["-e", REMOVE, ...made.map(String)]).catch(nothing);
  if (boundLoops(first).length > 0)
    throw new Error(`loop devices of ${id} are still in use: ${boundLoops(first).join()}`);
  await rm(claimFile(first), { force: true });
}

const claimFile = (first: number) => join(LOOP_CLAIMS, String(first));

async function claimOf(id: string): Promise<number | undefined> {
  const files = await readdir(LOOP_CLAIMS).catch(() => []); // nobody has claimed any
  for (const file of files) {
    const owner = await readlink(join(LOOP_CLAIMS, file)).catch(() => undefined); // it has just ended
    if (owner === id) return Number(file);
  }
  return undefined;
}

async function claim(first: number, id: string): Promise<boolean> {
  return symlink(id, claimFile(first)).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") return false;
      throw error;
    },
  );
}

function numbersFrom(first: number): number[] {
  return Array.from({ length: LOOPS }, (_, at) => first + at);
}

/** Those with a file behind them. */
function boundLoops(first: number): number[] {
  return numbersFrom(first).filter((minor) => existsSync(`/sys/dev/block/${LOOP_MAJOR}:${minor}/loop/backing_file`));
}

/** Those of a node whose first one is this; none if it has none. */
export function loopNumbers(first: number | undefined): number[] {
  return first === undefined ? [] : numbersFrom(first);
}

/** The machine may have no device file of it. */
async function withDevice(minor: number, use: (path: string) => Promise<void>): Promise<void> {
  const usual = `/dev/loop${minor}`;
  if (existsSync(usual)) return use(usual);
  const path = `/dev/.k8ts-loop${minor}`;
  await rm(path, { force: true });
  await run("mknod", ["-m", "600", path, "b", String(LOOP_MAJOR), String(minor)]);
  try {
    await use(path);
  } finally {
    await rm(path, { force: true });
  }
}

async function detach(path: string): Promise<void> {
  await run("losetup", ["--detach", path]).catch(nothing); // it has just been detached
}

/** Where a program is missing or fails. */
function nothing(error: unknown): string {
  if (error instanceof CommandError) return "";
  throw error;
}
