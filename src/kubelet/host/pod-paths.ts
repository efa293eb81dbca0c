/** Directories of a Pod below the kubelet's root directory, as upstream. */
import { join } from "node:path";

export function podDirectory(root: string, uid: string): string {
  if (!/^[A-Za-z0-9][\w-]*$/.test(uid)) throw new RangeError(`not a pod uid: ${uid}`);
  return join(root, "pods", uid);
}

export function volumesDirectory(root: string, uid: string): string {
  return join(podDirectory(root, uid), "volumes");
}

export function volumeDirectory(root: string, uid: string, plugin: string, volume: string): string {
  return join(volumesDirectory(root, uid), `kubernetes.io~${plugin}`, volume);
}

export function subPathsDirectory(root: string, uid: string): string {
  return join(podDirectory(root, uid), "volume-subpaths");
}
