/** Linux as the driver's machine: images on its disk, loop devices, and mounts here or in a node's namespaces. */
import { type Clock, KeyedLock } from "#base";
import type { Machine, Mount } from "../machine/machine.ts";
import { isKnownMountFlag } from "../rules/mount-flags.ts";
import { type RunProgram, runProgram } from "./command.ts";
import { openDiskImages } from "./disk-images.ts";
import { fileSystemsHere, growCommand } from "./file-systems.ts";
import { type LoopPool, loopDevices } from "./loop-devices.ts";
import type { MountSpace } from "./mount-space.ts";
import type { MountLine } from "./mount-table.ts";
import { mountsHere } from "./mounts-here.ts";
import { mountsInNode, type NodePlace } from "./mounts-in-node.ts";

export interface LinuxMachineOptions {
  /** Where images are kept. */
  readonly dir: string;
  readonly newId: () => string;
  readonly clock: Clock;
  readonly pool?: LoopPool | undefined;
  /** The node whose volumes these are, if it has a user namespace. Default: mounts are made in this process's own. */
  readonly node?: NodePlace | undefined;
  readonly blockProblem?: string | undefined;
  /** Default: the machine's own programs. */
  readonly run?: RunProgram | undefined;
}

export async function linuxMachine(options: LinuxMachineOptions): Promise<Machine> {
  const { dir, newId, clock, pool, node, blockProblem, run = runProgram } = options;
  const images = await openDiskImages(dir, run, newId);
  const loops = loopDevices(run, clock, pool);
  // Free devices are found and taken by one call at a time.
  const attaching = new KeyedLock();
  const space = node === undefined ? mountsHere(run) : await mountsInNode(node, run, loops);
  const at = async (path: string) => (await space.lines()).filter((line) => line.path === path);

  return {
    images,
    fileSystems: await fileSystemsHere(run, images.withProbe),
    blockProblem,
    ...(node !== undefined && { allowsMountFlag: isKnownMountFlag, trustsContent: false }),
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

    mounts: async () => Promise.all((await space.lines()).map((line) => mountOf(space, line))),
    mount: async (device, path, how) => space.mount(await loops.pathOf(device), path, how),
    bind: (from, path, readOnly) => space.bind(from, path, readOnly),
    bindDevice: async (device, path) => space.bindDevice(await loops.pathOf(device), path),
    async unmount(path, keep = false) {
      // The same may be mounted there twice, after a kill.
      for (let left = (await at(path)).length; left > 0; left = (await at(path)).length) await space.unmount(path);
      if (!keep) await space.removeEmpty(path);
    },
    growFileSystem: (fsType, device, path, signal) =>
      space.reach(
        path,
        async (here) => void (await run(...growCommand(fsType, await loops.pathOf(device), here), signal)),
      ),
    freeze: (path) => space.reach(path, async (here) => void (await run("fsfreeze", ["--freeze", here]))),
    thaw: (path) =>
      space.reach(path, async (here) => {
        await run("fsfreeze", ["--unfreeze", here]).catch((error: Error) => {
          if (!/Invalid argument/.test(error.message)) throw error; // it is not frozen
        });
      }),
    async flush(device) {
      await run("blockdev", ["--flushbufs", await loops.pathOf(device)]);
    },
    usage: (path) => space.usage(path),
  };
}

async function mountOf(space: MountSpace, line: MountLine): Promise<Mount> {
  const { path, device, root, readOnly } = line;
  const block = root === "/" ? undefined : await space.blockDeviceAt(line);
  if (block !== undefined) return { path, device: block, readOnly, isWhole: true, isBlock: true };
  return { path, device, readOnly, isWhole: root === "/", isBlock: false };
}
