/**
 * A node's CSI driver: a process that makes the volumes of the default StorageClass on its disk. It is in the node, or,
 * if the node has a user namespace, beside it on the machine: only there it may mount devices.
 * It needs no credentials: the kubelet finds it by its registration, and the cluster by its socket.
 */
import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import { DRIVER_NAME } from "#storage";
import { nodePlaceOf } from "../isolation/outside-volumes.ts";
import type { Place } from "../isolation/place.ts";
import type { IdRange } from "../isolation/user-namespace.ts";
import { ensureVolumesGroup, LOOPS } from "../isolation/volume-devices.ts";
import { LEAN_ENV, type ProcessId, startDaemon } from "../machine/processes.ts";
import { type NodeNames, namespacePath, VOLUMES_INSIDE } from "../site/names.ts";
import type { KubeletOptions } from "./kubelet.ts";

/** Longer paths of sockets are cut off by the kernel. */
const MAX_SOCKET_PATH = 107;
/** Device files of the node's loop devices, in the node. */
const DEVICE_DIR = "/dev/k8ts-volumes";

/** Of a driver that is outside of its node: in the folder for that. */
export const CSI_SOCKET = "csi.sock";

export function csiSocket({ kubeletRoot }: Pick<NodeNames, "kubeletRoot">): string {
  return join(kubeletRoot, "plugins", DRIVER_NAME, "csi.sock");
}

/** Why the node has no driver, as the end of a sentence. `node`: as its programs see it. */
export function csiDriverProblem(node: NodeNames): string | undefined {
  const longest = Math.max(...[csiSocket(node), registrationSocket(node)].map((path) => path.length));
  return longest > MAX_SOCKET_PATH ? `the path of its socket is too long: ${registrationSocket(node)}` : undefined;
}

/** The loop devices of a node with namespaces of its own. */
export interface NodeLoops {
  readonly first: number;
  /** Whether its Pods may open them. */
  readonly isOpen: boolean;
  /** The node has a user namespace: its driver is outside. */
  readonly outside?: { readonly init: ProcessId; readonly ids: IdRange } | undefined;
}

/** `enter`: what a command begins with that runs in the node. */
export function csiDriverArgs(node: NodeNames, loops: NodeLoops | undefined, enter: readonly string[] = []): string[] {
  const { outside } = loops ?? {};
  const { dir, folder, deviceDir } = node.outsideVolumes;
  const own =
    outside === undefined
      ? {
          endpoint: `unix://${csiSocket(node)}`,
          "node-id": node.name,
          "state-dir": node.volumesDir,
          "registration-dir": registrationDir(node),
        }
      : {
          endpoint: `unix://${join(folder, CSI_SOCKET)}`,
          "node-id": node.name,
          "state-dir": dir,
          "registration-dir": folder,
          "kubelet-registration-path": join(VOLUMES_INSIDE, CSI_SOCKET),
          "node-place": JSON.stringify(nodePlaceOf(node, outside.init, outside.ids, enter)),
        };
  const flags = {
    ...own,
    ...(loops !== undefined && {
      "loop-devices": `${loops.first}-${loops.first + LOOPS - 1}`,
      "loop-device-dir": outside === undefined ? DEVICE_DIR : deviceDir,
    }),
  };
  // The cgroup of such a node lets no Pod open a device.
  const others = loops === undefined || loops.isOpen ? [] : ["--no-block-volumes"];
  return ["csi-driver", ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`), ...others];
}

/** Identifies a command line: if it differs, the process is replaced. */
export function csiDriverStart(
  node: NodeNames,
  loops: NodeLoops | undefined,
  { command, machineCommand, version }: Pick<KubeletOptions, "command" | "machineCommand" | "version">,
): string {
  const program = loops?.outside === undefined ? command : (machineCommand ?? command);
  const parts = [program, csiDriverArgs(node, loops), version];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

export async function startCsiDriver(
  place: Place,
  loops: NodeLoops | undefined,
  options: Pick<KubeletOptions, "command" | "machineCommand">,
): Promise<ProcessId> {
  if (loops?.outside !== undefined) return startOutside(place, loops, options);
  const { files: node } = place;
  const [program = process.execPath, ...first] = options.command;
  if (loops !== undefined) await ensureVolumesGroup(node, loops.first);
  return place.start({
    program,
    args: [...first, ...csiDriverArgs(node, loops)],
    logFile: node.csiDriverLog,
    env: LEAN_ENV,
    deviceGroup: loops === undefined ? undefined : node.volumesCgroup,
  });
}

/** A link leads the kubelet to the driver's registration. */
async function startOutside(
  place: Place,
  loops: NodeLoops,
  { command, machineCommand = command }: Pick<KubeletOptions, "command" | "machineCommand">,
): Promise<ProcessId> {
  const { files: node, enter } = place;
  const [program = process.execPath, ...first] = machineCommand;
  const link = registrationSocket(node);
  const target = join(VOLUMES_INSIDE, basename(link));
  await place.run("sh", ["-c", 'mkdir -p "$1" && ln -sfn "$2" "$3"', "sh", registrationDir(node), target, link]);
  return startDaemon({
    program,
    args: [...first, ...csiDriverArgs(node, loops, enter)],
    logFile: node.outsideVolumes.log,
    env: LEAN_ENV,
    namespace: namespacePath(node.namespace),
  });
}

function registrationDir({ kubeletRoot }: NodeNames): string {
  return join(kubeletRoot, "plugins_registry");
}

function registrationSocket(node: NodeNames): string {
  return join(registrationDir(node), `${DRIVER_NAME}-reg.sock`);
}
