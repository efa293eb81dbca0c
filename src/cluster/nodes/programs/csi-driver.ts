/**
 * A node's CSI driver: a process in the node's place that makes the volumes of the default StorageClass on its disk.
 * It needs no credentials: the kubelet finds it by its registration, and the cluster by its socket.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { DRIVER_NAME } from "#storage";
import type { Place } from "../isolation/place.ts";
import { ensureVolumesGroup, LOOPS } from "../isolation/volume-devices.ts";
import { LEAN_ENV, type ProcessId } from "../machine/processes.ts";
import type { NodeNames } from "../site/names.ts";
import type { KubeletOptions } from "./kubelet.ts";

/** Longer paths of sockets are cut off by the kernel. */
const MAX_SOCKET_PATH = 107;
/** Device files of the node's loop devices, in the node. */
const DEVICE_DIR = "/dev/k8ts-volumes";

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
}

export function csiDriverArgs(node: NodeNames, loops: NodeLoops | undefined): string[] {
  const flags = {
    endpoint: `unix://${csiSocket(node)}`,
    "node-id": node.name,
    "state-dir": node.volumesDir,
    "registration-dir": registrationDir(node),
    ...(loops !== undefined && {
      "loop-devices": `${loops.first}-${loops.first + LOOPS - 1}`,
      "loop-device-dir": DEVICE_DIR,
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
  { command, version }: Pick<KubeletOptions, "command" | "version">,
): string {
  const parts = [command, csiDriverArgs(node, loops), version];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

export async function startCsiDriver(
  place: Place,
  loops: NodeLoops | undefined,
  { command }: Pick<KubeletOptions, "command">,
): Promise<ProcessId> {
  const { files: node } = place;
  const [program = process.execPath, ...first] = command;
  if (loops !== undefined) await ensureVolumesGroup(node, loops.first);
  return place.start({
    program,
    args: [...first, ...csiDriverArgs(node, loops)],
    logFile: node.csiDriverLog,
    env: LEAN_ENV,
    deviceGroup: loops === undefined ? undefined : node.volumesCgroup,
  });
}

function registrationDir({ kubeletRoot }: NodeNames): string {
  return join(kubeletRoot, "plugins_registry");
}

function registrationSocket(node: NodeNames): string {
  return join(registrationDir(node), `${DRIVER_NAME}-reg.sock`);
}
