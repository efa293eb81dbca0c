/**
 * Records of nodes: how commands request changes, and how leftovers of a crash are found.
 *
 *     node.json   wanted state: written by commands, read by the running cluster
 *     run.json    actual state: written only by the running cluster
 */
import { mkdir, readdir, readFile } from "node:fs/promises";
import type { core } from "#api";
import type { NodeOwn } from "../../config/cluster-config.ts";
import { ClusterError } from "../../config/errors.ts";
import { writeFileAtomic } from "../../data/data-dir.ts";
import type { ProcessId } from "../machine/processes.ts";
import { type NodeNames, nodeNames, type SiteNames } from "./names.ts";

export type NetworkKind = "switch" | "machine";
export type Wanted = "running" | "stopped" | "removed";

export interface NodeSpec {
  readonly wanted: Wanted;
  /** Its network is this machine's. */
  readonly onMachine?: true | undefined;
  /** Folders of this machine in the node, as `--node-mount` gives them, besides those of all nodes. */
  readonly mounts?: readonly string[] | undefined;
  /** Labels and taints that it registers with. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly taints?: readonly core.Taint[] | undefined;
  /** A KubeletConfiguration: what the cluster sets overrides it. */
  readonly kubelet?: object | undefined;
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
  /** The cluster's DNS, on its loopback device. */
  readonly dnsAddresses?: readonly string[];
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

/** At least this many: those with names, then node-1 and so on. Existing ones keep their wanted state. */
export async function wantNodes(
  site: SiteNames,
  count: number,
  own: readonly NodeOwn[],
  kind: NetworkKind = "switch",
): Promise<void> {
  const network = kind === "machine" ? ({ onMachine: true } as const) : {};
  const known = new Map((await listNodes(site)).map(({ names, spec }) => [names.name, spec.wanted]));
  for (const { name, labels, taints, mounts, kubelet } of own) {
    const wanted = known.get(name) ?? "running";
    await writeSpec(nodeNames(site, name), { wanted, ...network, labels, taints, mounts, kubelet });
  }
  for (let number = 1; number <= count - own.length; number++) {
    const name = `node-${number}`;
    if (!known.has(name)) await writeSpec(nodeNames(site, name), { wanted: "running", ...network });
  }
}

/** A cluster does not change between the two kinds: the addresses of its nodes are known to others. */
export async function refuseOtherKind(site: SiteNames, kind: NetworkKind): Promise<void> {
  const other = (await listNodes(site)).find(({ spec }) => (spec.onMachine === true) !== (kind === "machine"));
  if (other === undefined) return;
  const { name } = other.names;
  throw new ClusterError(
    kind === "machine"
      ? `Node ${name} has a network of its own, which other machines do not reach: remove all nodes first (\`k8ts node remove ${name}\`), or start a new cluster with --listen.`
      : `Node ${name} has the network of this machine: give --listen as before, or \`k8ts reset\` deletes the cluster.`,
  );
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
