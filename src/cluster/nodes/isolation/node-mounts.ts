/**
 * Folders of this machine that a user gives to nodes: `--node-mount SOURCE:TARGET[:ro]`. Everything else of the machine
 * is not in a node.
 */
import { existsSync, statSync } from "node:fs";
import { isAbsolute, normalize } from "node:path";
import type { NodeMount } from "../../config/cluster-config.ts";

export type { NodeMount };

/** These are parts of every node: nothing may take their place. */
const TAKEN = ["/", "/dev", "/etc", "/opt/k8ts", "/proc", "/run", "/sys", "/usr", "/var", "/var/lib/kubelet"];

/** A sentence if it is not valid. */
export function parseNodeMount(text: string): NodeMount | string {
  const [source = "", target = source, option, ...more] = text.split(":");
  const shape = "SOURCE:TARGET or SOURCE:TARGET:ro, with absolute paths";
  if (!isAbsolute(source) || !isAbsolute(target) || more.length > 0) return `${text} is not ${shape}.`;
  if (option !== undefined && option !== "ro" && option !== "rw") return `${text} is not ${shape}.`;
  const place = normalize(target).replace(/(.)\/+$/, "$1");
  if (TAKEN.includes(place)) return `${place} is a part of every node: choose another target.`;
  return { source, target: place, readOnly: option === "ro" };
}

/** Those that were valid when they were written. */
export function validMounts(mounts: readonly string[] = []): NodeMount[] {
  return mounts.map(parseNodeMount).filter((mount) => typeof mount !== "string");
}

/** Why it cannot be mounted now, as a sentence; undefined if it can. */
export function mountProblem({ source }: NodeMount): string | undefined {
  if (!existsSync(source)) return `${source} does not exist.`;
  const found = statSync(source);
  if (found.isDirectory() || found.isFile()) return undefined;
  return `${source} is neither a folder nor a file: nodes get no devices and sockets of this machine.`;
}
