/** Linux as the driver's machine: images on its disk, loop devices, and mounts of this process's namespace. */
import { existsSync, readFileSync } from "node:fs";
import { mkdir, open, readFile, rm, rmdir, stat, statfs } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { type Clock, KeyedLock } from "#base";
import type { Machine, Mount } from "../machine/machine.ts";
import { type RunProgram, runProgram } from "./command.ts";
import { openDiskImages } from "./disk-images.ts";
import { type LoopPool, loopDevices, numberOf } from "./loop-devices.ts";
import { type MountLine, parseMountInfo } from "./mount-table.ts";

const FILE_SYSTEMS = ["ext4", "ext3", "xfs"];
const SYS_RESOURCE = 24n;
const PROGRAMS = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export interface LinuxMachineOptions {
  /** Where images are kept. */
  readonly dir: string;
  readonly newId: () => string;
  readonly clock: Clock;
  readonly pool?: LoopPool | undefined;
  readonly blockProblem?: string | undefined;
  /** Default: the machine's own programs. */
  readonly run?: RunProgram | undefined;
}

export async function linuxMachine(options: LinuxMachineOptions): Promise<Machine> {
  const { dir, newId, clock, pool, blockProblem, run = runProgram } = options;
  const images = await openDiskImages(dir, run, newId);
  const loops = loopDevices(run, clock, pool);
  // Free devices are found and taken by one call at a time.
  const attaching = new KeyedLock();
  const table = async () => parseMountInfo(await readFile("/proc/self/mountinfo", "utf8"));
  const at = async (path: string) => (await table()).filter((line) => line.path === path);

  return {
    images,
    fileSystems: fileSystemsHere(),
    blockProblem,
    maxDevices: pool?.count ?? 0,
    async devices() {
      return (await loops.list()).flatMap(({ number, file, isDeleted }) => {
        const image = images.imageAt(file);
        // Those of others are not the driver's business; all that are in a pool of its own are.
        if (image === undefined && pool === undefined) return [];
        return [{ number, image: isDeleted ? undefined : image }];
      });
    },
    attach: (image, readOnly) => attaching.run("", () => loops.attach(images.pathOf(image), readOnly)),
    detach: (device) => attaching.run("", () => loops.detach(device)),
    refresh: (device) => loops.refresh(device),

    mounts: async () => (await Promise.all((await table()).map(mountOf))).filter((found) => found !== undefined),
    async mount(device, path, { fsType, flags, readOnly }) {
      await mkdir(path, { recursive: true, mode: 0o750 });
      const options = [readOnly ? "ro" : "rw", ...flags].join();
      await run("mount", ["-t", fsType, "-o", options, await loops.pathOf(device), path]);
    },
    async bind(from, path, readOnly) {
      await mkdir(path, { recursive: true, mode: 0o750 });
      await run("mount", ["-o", readOnly ? "bind,ro" : "bind", from, path]);
    },
    async bindDevice(device, path) {
      await mkdir(dirname(path), { recursive: true, mode: 0o750 });
      await (await open(path, "a", 0o600)).close();
      await run("mount", ["--bind", await loops.pathOf(device), path]);
    },
    async unmount(path, keep = false) {
      // The same may be mounted there twice, after a kill.
      for (let left = (await at(path)).length; left > 0; left = (await at(path)).length) await run("umount", [path]);
      if (!keep) await removeEmpty(path);
    },
    // xfs asks for no more than mounting does.
    canGrowMounted: (fsType) => fsType === "xfs" || hasSysResource(readFileSync("/proc/self/status", "utf8")),
    async growFileSystem(fsType, device, path, signal) {
      if (fsType === "xfs") await run("xfs_growfs", [path], signal);
      else await run("resize2fs", [await loops.pathOf(device)], signal);
    },
    async freeze(path) {
      await run("fsfreeze", ["--freeze", path]);
    },
    async thaw(path) {
      await run("fsfreeze", ["--unfreeze", path]).catch((error: Error) => {
        if (!/Invalid argument/.test(error.message)) throw error; // it is not frozen
      });
    },
    async flush(device) {
      await run("blockdev", ["--flushbufs", await loops.pathOf(device)]);
    },
    async usage(path) {
      const { blocks, bfree, bavail, bsize, files, ffree } = await statfs(path);
      return {
        totalBytes: blocks * bsize,
        usedBytes: (blocks - bfree) * bsize,
        availableBytes: bavail * bsize,
        totalInodes: files,
        usedInodes: files - ffree,
        availableInodes: ffree,
      };
    },
  };
}

/** The kernel grows a mounted ext4 only for those who have this capability. Root in a container may lack it. */
function hasSysResource(status: string): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0";
  return ((BigInt(`0x${effective}`) >> SYS_RESOURCE) & 1n) === 1n;
}

async function mountOf({ path, device, root, readOnly }: MountLine): Promise<Mount> {
  // A file system of devices: a device file of it is mounted on another file.
  if (root === "/" || !/\/loop\d+$/.test(root))
    return { path, device, readOnly, isWhole: root === "/", isBlock: false };
  const found = await stat(path).catch(() => undefined); // it has just been unmounted
  if (found?.isBlockDevice() !== true) return { path, device, readOnly, isWhole: false, isBlock: false };
  return { path, device: numberOf(found.rdev), readOnly, isWhole: true, isBlock: true };
}

/** Those that the kernel mounts and that can be made. */
function fileSystemsHere(): string[] {
  const known = readFileSync("/proc/filesystems", "utf8").split(/\s+/);
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...PROGRAMS.split(":")].filter(Boolean);
  return FILE_SYSTEMS.filter(
    (type) => known.includes(type) && folders.some((folder) => existsSync(join(folder, `mkfs.${type}`))),
  );
}

/** Never more than an empty folder, or a file that was a mount point. */
async function removeEmpty(path: string): Promise<void> {
  await rmdir(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === "ENOTDIR") await rm(path, { force: true });
    else if (error.code !== "ENOENT") throw error;
  });
}
