/**
 * The configuration of a node's own container, for runc: its root, namespaces, devices and capabilities. Pure.
 *
 *     /usr, programs of k8ts      of the machine; overlays without an upper layer
 *     /etc, /run, /var, …         the node's own
 *     /proc, /sys, /dev, cgroups  of its namespaces
 *
 * 1. A privileged Pod can remount what is mounted read-only. So folders of the machine are overlays that nobody can
 *    write to: the machine's own mount is not in the node.
 * 2. Only the network namespace exists before, and the user namespace if it has one; all others begin and end with the
 *    node.
 * 3. Its cgroup is the root of what the node sees.
 */
import { join } from "node:path";
import { type NodeNames, namespacePath, VOLUMES_INSIDE } from "../site/names.ts";
import type { DeviceRule } from "./devices.ts";
import type { NodeMount } from "./node-mounts.ts";
import type { IdRange } from "./user-namespace.ts";
import { LOOP_MAJOR, loopNumbers } from "./volume-devices.ts";

/** Where nodes have the programs of k8ts. */
export const PROGRAMS = "/opt/k8ts";
export const NODE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** The first process: reaps those whose parents have exited. */
const INIT = ["sh", "-c", "while :; do sleep 2147483647 & wait; done"];

export interface NodeContainerOptions {
  /** A static busybox, below /usr. */
  readonly busybox: string;
  readonly capabilities: readonly string[];
  readonly devices: readonly DeviceRule[];
  /** Folders of the machine that are a part of the node's system, by the same path. */
  readonly systemFolders: readonly string[];
  /** The same as parts of /etc. */
  readonly etcFolders: readonly string[];
  readonly programsDir: string;
  /** An empty folder: an overlay needs two. */
  readonly emptyDir: string;
  readonly mounts: readonly NodeMount[];
  /** The first of the loop devices that it has files of; undefined: none. */
  readonly firstLoop?: number | undefined;
  /** Of its user namespace, if it has one. */
  readonly ids?: IdRange | undefined;
}

export function nodeContainer(names: NodeNames, options: NodeContainerOptions): object {
  const { capabilities, devices, emptyDir, programsDir, ids } = options;
  const mappings = ids && [{ containerID: 0, hostID: ids.first, size: ids.size }];
  const shared = (folder: string) => ({
    destination: folder,
    type: "overlay",
    source: "overlay",
    options: [lowerOnly(folder, emptyDir)],
  });
  return {
    ociVersion: "1.0.2",
    hostname: names.name,
    root: { path: ids === undefined ? names.diskDir : names.rootDir, readonly: false },
    process: {
      terminal: false,
      user: { uid: 0, gid: 0 },
      args: [options.busybox, ...INIT],
      env: [`PATH=${NODE_PATH}`],
      cwd: "/",
      capabilities: { bounding: capabilities, effective: capabilities, permitted: capabilities },
    },
    mounts: [
      { destination: "/proc", type: "proc", source: "proc" },
      ...DEV_MOUNTS,
      { destination: "/sys", type: "sysfs", source: "sysfs", options: ["nosuid", "noexec", "nodev"] },
      { destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["nosuid", "noexec", "nodev", "rw"] },
      ...options.systemFolders.map(shared),
      bind(names.etcDir, "/etc", ["rw"]),
      ...options.etcFolders.map(shared),
      bind(names.manifestDir, "/etc/kubernetes/manifests", ["rw"]),
      bind(names.runDir, "/run", ["rw"]),
      // What is mounted there later appears in the node.
      bind(programsDir, PROGRAMS, ["ro", "rslave"]),
      ...(ids === undefined ? [] : [bind(names.outsideVolumes.folder, VOLUMES_INSIDE, ["ro", "rslave"])]),
      ...options.mounts.map(({ source, target, readOnly }) => bind(source, target, [readOnly ? "ro" : "rw", "rslave"])),
    ],
    linux: {
      cgroupsPath: names.cgroup,
      ...(mappings !== undefined && { uidMappings: mappings, gidMappings: mappings }),
      namespaces: [
        ...(ids === undefined ? [] : [{ type: "user", path: names.userNamespace }]),
        ...["pid", "mount", "uts", "ipc", "cgroup"].map((type) => ({ type })),
        { type: "network", path: namespacePath(names.namespace) },
      ],
      devices: [...DEVICES, ...loopFiles(options.firstLoop)],
      resources: { devices },
    },
  };
}

const DEV_MOUNTS = [
  { destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "strictatime", "mode=755"] },
  {
    destination: "/dev/pts",
    type: "devpts",
    source: "devpts",
    options: ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"],
  },
  { destination: "/dev/shm", type: "tmpfs", source: "shm", options: ["nosuid", "nodev", "mode=1777"] },
  { destination: "/dev/mqueue", type: "mqueue", source: "mqueue", options: ["nosuid", "noexec", "nodev"] },
];

/** Besides those that every container has: none of them leads to a disk or a device of the machine. */
const DEVICES = [
  { path: "/dev/fuse", type: "c", major: 10, minor: 229, fileMode: 0o666 },
  { path: "/dev/net/tun", type: "c", major: 10, minor: 200, fileMode: 0o666 },
  { path: "/dev/kmsg", type: "c", major: 1, minor: 11, fileMode: 0o644 },
];

/** Without loop-control: what looks for a free one finds one of the node's. */
function loopFiles(first: number | undefined) {
  return loopNumbers(first).map((minor) => ({
    ...{ path: `/dev/loop${minor}`, type: "b", major: LOOP_MAJOR, minor, fileMode: 0o660 },
  }));
}

function bind(source: string, destination: string, options: readonly string[]) {
  return { destination, type: "bind", source, options: ["rbind", ...options] };
}

/** Two lower layers and no upper one: it can never be written to. */
export function lowerOnly(folder: string, emptyDir: string): string {
  const escaped = (path: string) => path.replace(/[\\:,]/g, "\\$&");
  return `lowerdir=${escaped(folder)}:${escaped(emptyDir)}`;
}

export function configFile({ bundleDir }: Pick<NodeNames, "bundleDir">): string {
  return join(bundleDir, "config.json");
}
