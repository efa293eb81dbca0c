/** Mounts of this process's namespace. */
import { mkdir, open, readFile, rm, rmdir, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { RunProgram } from "./command.ts";
import { mountFlags } from "./file-systems.ts";
import { numberOf } from "./loop-devices.ts";
import type { MountSpace } from "./mount-space.ts";
import { parseMountInfo } from "./mount-table.ts";

export function mountsHere(run: RunProgram): MountSpace {
  return {
    lines: async () => parseMountInfo(await readFile("/proc/self/mountinfo", "utf8")),
    async mount(devicePath, path, { fsType, flags, readOnly }) {
      await mkdir(path, { recursive: true, mode: 0o750 });
      const options = [readOnly ? "ro" : "rw", ...mountFlags(fsType), ...flags].join();
      await run("mount", ["-t", fsType, "-o", options, devicePath, path]);
    },
    async bind(from, path, readOnly) {
      await mkdir(path, { recursive: true, mode: 0o750 });
      await run("mount", ["-o", readOnly ? "bind,ro" : "bind", from, path]);
    },
    async bindDevice(devicePath, path) {
      await mkdir(dirname(path), { recursive: true, mode: 0o750 });
      await (await open(path, "a", 0o600)).close();
      await run("mount", ["--bind", devicePath, path]);
    },
    async blockDeviceAt({ path, root }) {
      // A file system of devices: a device file of it is mounted on another file.
      if (!/\/loop\d+$/.test(root)) return undefined;
      const found = await stat(path).catch(() => undefined); // it has just been unmounted
      return found?.isBlockDevice() === true ? numberOf(found.rdev) : undefined;
    },
    unmount: async (path) => void (await run("umount", [path])),
    async removeEmpty(path) {
      await rmdir(path).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code === "ENOTDIR") await rm(path, { force: true });
        else if (error.code !== "ENOENT") throw error;
      });
    },
    reach: (path, use) => use(path),
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
