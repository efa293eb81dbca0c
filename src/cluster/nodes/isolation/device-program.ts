/**
 * A cgroup of v2 whose processes may open certain devices only. There, the kernel asks a program that is attached to
 * the group; runc makes such programs from rules, so it is asked to create a container in the group: it never starts.
 *
 *     rules ──► runc create ──► group with program ··· container killed ──► group with program
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram, run } from "../machine/command.ts";
import type { DeviceRule } from "./devices.ts";

const CONTAINER = "group";
/** runc passes its standard streams on to the container. */
const SILENT = 'exec "$@" < /dev/null > /dev/null 2> "$0"';

/** The group has no processes afterwards, and the rules. */
export async function makeDeviceGroup(group: string, devices: readonly DeviceRule[]): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "k8ts-devices-"));
  try {
    await mkdir(join(dir, "rootfs"));
    await writeFile(join(dir, "config.json"), JSON.stringify(container(group, devices)));
    const pidFile = join(dir, "pid");
    const create = ["--root", join(dir, "state"), "create", "--bundle", dir, "--pid-file", pidFile, CONTAINER];
    await run("sh", ["-c", SILENT, join(dir, "log"), "runc", ...create], { as: "runc create" });
    process.kill(Number(await readFile(pidFile, "utf8")), "SIGKILL");
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function container(group: string, devices: readonly DeviceRule[]): object {
  return {
    ociVersion: "1.0.2",
    root: { path: "rootfs", readonly: true },
    process: {
      terminal: false,
      user: { uid: 0, gid: 0 },
      args: [findProgram("busybox") ?? "/usr/bin/busybox", "true"],
      cwd: "/",
    },
    mounts: [
      { destination: "/proc", type: "proc", source: "proc" },
      { destination: "/usr", type: "bind", source: "/usr", options: ["rbind", "ro"] },
    ],
    linux: {
      cgroupsPath: group,
      namespaces: [{ type: "mount" }, { type: "pid" }],
      resources: { devices: [{ allow: false, access: "rwm" }, ...devices] },
    },
  };
}
