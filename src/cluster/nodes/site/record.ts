/**
 * Records of nodes: how commands request changes, and how leftovers of a crash are found.
 *
 *     node.json   wanted state: written by commands, read by the running cluster
 *     run.json    actual state: written only by the running cluster
 */
import { mkdir, readdir, readFile } from "node:fs/promises";
import { writeFileAtomic } from "../../data/data-dir.ts";
import type { ProcessId } from "../machine/processes.ts";
import { type NodeNames, nodeNames, type SiteNames } from "./names.ts";

export type Wanted = "running" | "stopped" | "removed";

export interface NodeSpec {
  readonly wanted: Wanted;
  /** Folders of this machine in the node, as `--node-mount` gives them, besides those of all nodes. */
  readonly mounts?: readonly string[] | undefined;
}

export interface NodeRun {
  readonly index: number;
  readonly ip: string;
  /** With dual-stack Pods. */
  readonly ip6?: string;
  readonly podCidrs: readonly string[];
  /** The first process of a node with namespaces of its own. */
  readonly init?: ProcessId;
  readonly containerd?: ProcessId;
  readonly kubelet?: ProcessId;
  /** The kubelet's command line: a different one restarts it. */
  readonly kubeletStart?: string;
  /** When its certificates have to be renewed: it is started again then. */
  readonly kubeletRenewMs?: number;
  /** The network agent. */
  readonly proxy?: ProcessId;
  readonly proxyStart?: string;
  readonly proxyRenewMs?: number;
  /** The CSI driver of its volumes. */
  readonly csiDriver?: ProcessId;
  readonly csiDriverStart?: string;
  /** Its first loop device, if it has namespaces of its own. */
  readonly firstLoop?: number;
  /** It was started so that its Pods may open loop devices. */
  readonly opensLoops?: true;
  /** Whether all parts of the node are up. */
  readonly state: "starting" | "running" | "stopped" | "failed";
  /** Why it failed. */
  readonly reason?: string;
}

/** One, or one of each family. */
export function addressesOf({ ip, ip6 }: Pick<NodeRun, "ip" | "ip6">): readonly string[] {
  return ip6 === undefined ? [ip] : [ip, ip6];
}

export interface NodeRecord {
  readonly names: NodeNames;
  readonly spec: NodeSpec;
  /** Undefined until the running cluster has seen it. */
  readonly run: NodeRun | undefined;
}

export async function listNodes(site: SiteNames): Promise<NodeRecord[]> {
  const entries = await readdir(site.nodesDir, { withFileTypes: true }).catch(absent([]));
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const records = await Promise.all(names.sort().map((name) => readNode(nodeNames(site, name))));
  return records.filter((record) => record !== undefined);
}

/** Undefined if there is no such node. */
export async function readNode(names: NodeNames): Promise<NodeRecord | undefined> {
  const [spec, run] = await Promise.all([readJson<NodeSpec>(names.specFile), readJson<NodeRun>(names.runFile)]);
  return spec === undefined ? undefined : { names, spec, run };
}

export async function writeSpec(names: NodeNames, spec: NodeSpec): Promise<void> {
  await mkdir(names.dir, { recursive: true, mode: 0o700 });
  await writeFileAtomic(names.specFile, `${JSON.stringify(spec)}\n`);
}

export async function writeRun(names: NodeNames, run: NodeRun): Promise<void> {
  await writeFileAtomic(names.runFile, `${JSON.stringify(run, undefined, 2)}\n`);
}

/** The lowest free index. */
export function freeIndex(nodes: readonly NodeRecord[]): number {
  const taken = new Set(nodes.map(({ run }) => run?.index));
  let index = 1;
  while (taken.has(index)) index++;
  return index;
}

async function readJson<T>(path: string): Promise<T | undefined> {
  const text = await readFile(path, "utf8").catch(absent(undefined));
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

function absent<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === "ENOENT") return value;
    throw error;
  };
}
