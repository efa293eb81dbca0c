/**
 * Mounts of a node with a user namespace, made from outside of it: its root may not mount what is on a device.
 *
 *     device ──► mounted below `folder`, here --► the same in the node ──► bound to its path, by the node's own root
 *            ──► unmounted below `folder`; what is bound stays
 *
 * 1. This process is root of the machine, and a Pod may be root of the node. So no path of the node is ever opened,
 *    created, mounted or removed here: that is done by programs that run in the node, with the node's rights. A link in
 *    such a path leads to something of the node.
 * 2. What is mounted here is a device of the driver's own, by an image that no node can write to: what the kernel reads
 *    as a file system was made by mkfs, and by the kernel itself.
 * 3. Options of mounts are known ones (rules/mount-flags.ts): others name further devices, or let a damaged file system
 *    stop the machine. All mounts are nosuid and nodev, and stay so: the kernel locks flags of mounts that come from
 *    outside.
 * 4. A new file system belongs to root of the machine: before the node sees it, it is given to the node's root.
 */
import { chown, mkdir, readFile, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { KeyedLock } from "#base";
import { GrpcError } from "#grpc";
import type { MountOptions } from "../machine/machine.ts";
import { ProgramError, type RunProgram } from "./command.ts";
import { mountFlags } from "./file-systems.ts";
import { LOOP_MAJOR, type LoopDevices } from "./loop-devices.ts";
import type { MountSpace } from "./mount-space.ts";
import { parseMountInfo } from "./mount-table.ts";

export interface NodePlace {
  /** The node's first process, and its start time in ticks: another one may get its number. */
  readonly pid: number;
  readonly startTicks: string;
  /** What a command begins with that runs in the node, as the node's root. */
  readonly enter: readonly string[];
  /** A folder whose mounts appear in the node: its path here, and in the node. */
  readonly folder: string;
  readonly folderInside: string;
  /** The user and group here that is the node's root. */
  readonly rootId: number;
}

const LOCKED = ["nosuid", "nodev"];

const BIND = 'mkdir -p -m 750 -- "$2" && exec mount -o "$3" -- "$1" "$2"';
const BIND_FILE = 'mkdir -p -m 750 -- "$(dirname -- "$2")" && : >> "$2" && exec mount --bind -- "$1" "$2"';
const REMOVE = '[ -d "$1" ] || exec rm -f -- "$1"; rmdir -- "$1" 2> /dev/null || [ ! -e "$1" ]';

export async function mountsInNode(
  node: NodePlace,
  run: RunProgram,
  loops: Pick<LoopDevices, "list" | "pathOf">,
): Promise<MountSpace> {
  const { pid, startTicks, enter, folder, folderInside, rootId } = node;
  const [program = "", ...first] = enter;
  const shown = new KeyedLock();

  const requireNode = async () => {
    const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => ""); // it has exited
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[19] !== startTicks) throw new GrpcError("UNAVAILABLE", "the node is off");
  };
  const inNode = async (what: string, args: readonly string[]) => {
    await requireNode();
    return run(program, [...first, ...args]).catch((error: unknown) => {
      if (!(error instanceof ProgramError)) throw error;
      throw new ProgramError(`${what} in the node: ${error.reason}`, error.exitCode, { cause: error });
    });
  };
  const script = (what: string, text: string, ...args: readonly string[]) =>
    inNode(what, ["sh", "-c", text, "sh", ...args]);
  const lines = async () => {
    await requireNode();
    return parseMountInfo(await readFile(`/proc/${pid}/mountinfo`, "utf8"));
  };

  /** Mounted at `here`, and in the node at `inside`, while it is used. */
  const whileShown = (
    devicePath: string,
    how: readonly string[],
    use: (here: string, inside: string) => Promise<void>,
  ) => {
    const name = basename(devicePath);
    const here = join(folder, name);
    return shown.run(name, async () => {
      const isDevice = how.includes("--bind");
      await (isDevice ? writeFile(here, "") : mkdir(here, { recursive: true, mode: 0o755 }));
      try {
        await run("mount", [...how, devicePath, here]);
        await use(here, join(folderInside, name));
      } finally {
        await hide(run, here);
      }
    });
  };
  const asFileSystem = ({ fsType, flags, readOnly }: MountOptions) => [
    ...["-t", fsType, "-o", [readOnly ? "ro" : "rw", ...mountFlags(fsType), ...flags, ...LOCKED].join()],
  ];

  /** One that has just been made belongs to root of the machine. */
  const giveToNode = async (here: string) => {
    if ((await stat(here)).uid !== 0 || rootId === 0) return;
    const owner = `${rootId}:${rootId}`;
    await run("find", [here, "-xdev", "-depth", "-exec", "chown", "--no-dereference", owner, "{}", "+"]);
  };

  // Of a driver that was killed.
  const own = parseMountInfo(await readFile("/proc/self/mountinfo", "utf8"));
  for (const { path } of own) if (path.startsWith(`${folder}/`)) await hide(run, path);

  return {
    lines,
    mount: (devicePath, path, options) =>
      whileShown(devicePath, asFileSystem(options), async (here, inside) => {
        if (!options.readOnly) await giveToNode(here);
        await script("mount", BIND, inside, path, "bind");
      }),
    async bind(from, path, readOnly) {
      const { options = [] } = (await lines()).findLast((line) => line.path === from) ?? {};
      // To become read-only is a change of all flags, and those that are locked have to stay.
      const flags = options.filter((option) => !["ro", "rw"].includes(option));
      await script("mount", BIND, from, path, readOnly ? ["bind", "ro", ...flags].join() : "bind");
    },
    bindDevice: (devicePath, path) =>
      whileShown(devicePath, ["--bind"], async (_, inside) => {
        await chown(devicePath, rootId, rootId);
        await script("mount", BIND_FILE, inside, path);
      }),
    async blockDeviceAt({ root, fsType }) {
      const [, minor] = (fsType === "devtmpfs" || fsType === "tmpfs" ? /\/loop(\d+)$/.exec(root) : null) ?? [];
      const number = `${LOOP_MAJOR}:${minor}`;
      return (await loops.list()).some((device) => device.number === number) ? number : undefined;
    },
    unmount: async (path) => void (await inNode("umount", ["umount", "--", path])),
    removeEmpty: async (path) => void (await script("rmdir", REMOVE, path)),
    async reach(path, use) {
      const line = (await lines()).findLast((each) => each.path === path);
      if (line === undefined) throw new GrpcError("FAILED_PRECONDITION", `nothing is mounted at ${path}`);
      const { device, fsType, isReadOnlyEverywhere: readOnly } = line;
      if (!(await loops.list()).some(({ number }) => number === device))
        throw new GrpcError("FAILED_PRECONDITION", `what is mounted at ${path} is no volume of this driver`);
      await whileShown(await loops.pathOf(device), asFileSystem({ fsType, flags: [], readOnly }), use);
    },
    async usage(path) {
      const format = "--format=%S %b %f %a %c %d";
      const said = await inNode("stat", ["stat", "--file-system", format, "--", path]);
      const [size = 0, blocks = 0, free = 0, available = 0, inodes = 0, freeInodes = 0] = said
        .trim()
        .split(" ")
        .map(Number);
      return {
        totalBytes: blocks * size,
        usedBytes: (blocks - free) * size,
        availableBytes: available * size,
        totalInodes: inodes,
        usedInodes: inodes - freeInodes,
        availableInodes: freeInodes,
      };
    },
  };
}

/** Somebody in the node may have opened what is shown there: the mount then goes with its last user. */
async function hide(run: RunProgram, here: string): Promise<void> {
  const isMounted = async () =>
    parseMountInfo(await readFile("/proc/self/mountinfo", "utf8")).some(({ path }) => path === here);
  while (await isMounted()) await run("umount", [here]).catch(() => run("umount", ["--lazy", here]));
  if ((await stat(here)).isDirectory()) await rmdir(here);
  else await rm(here);
}
