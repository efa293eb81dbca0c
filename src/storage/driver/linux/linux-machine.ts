/** Linux as the driver's machine: images on its disk, loop devices, and mounts of this process's namespace. */
import { mkdir, open, readFile, rm, rmdir, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { type Clock, KeyedLock } from "#base";
import type { Machine, Mount } from "../machine/machine.ts";
import { type RunProgram, runProgram } from "./command.ts";
import { openDiskImages } from "./disk-images.ts";
import { fileSystemsHere, growCommand, mountFlags } from "./file-systems.ts";
import { type LoopPool, loopDevices, numberOf } from "./loop-devices.ts";
import { type MountLine, parseMountInfo } from "./mount-table.ts";

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
    fileSystems: await fileSystemsHere(run, images.withProbe),
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
      const options = [readOnly ? "ro" : "rw", ...mountFlags(fsType), ...flags].join();
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
    async growFileSystem(fsType, device, path, signal) {
      await run(...growCommand(fsType, await loops.pathOf(device), path), signal);
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

async function mountOf({ path, device, root, readOnly }: MountLine): Promise<Mount> {
  // A file system of devices: a device file of it is mounted on another file.
  if (root === "/" || !/\/loop\d+$/.test(root))
    return { path, device, readOnly, isWhole: root === "/", isBlock: false };
  const found = await stat(path).catch(() => undefined); // it has just been unmounted
  if (found?.isBlockDevice() !== true) return { path, device, readOnly, isWhole: false, isBlock: false };
  return { path, device: numberOf(found.rdev), readOnly, isWhole: true, isBlock: true };
}

/** Never more than an empty folder, or a file that was a mount point. */
async function removeEmpty(path: string): Promise<void> {
  await rmdir(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === "ENOTDIR") await rm(path, { force: true });
    else if (error.code !== "ENOENT") throw error;
  });
}
