/** Simulated nodes in the API server's process: each through the whole pipeline, as its own user. */
import { canonicalQuantity } from "#api";
import { K8TS_VERSION, KUBERNETES_VERSION } from "#apiserver";
import type { Clock, Logger, Random } from "#base";
import { Client, type InProcessHandle, inProcess, traced } from "#client";
import { Fleet, type FleetOptions, type NodeSettings, nodesOf } from "#kubelet";
import type { Tracing } from "#tracing";
import type { NodeOwn, NodesConfig } from "../config/cluster-config.ts";
import { ClusterError } from "../config/errors.ts";

export interface SimulatedNodesOptions extends Pick<FleetOptions, "defaults" | "usage"> {
  readonly nodes: NodesConfig;
  readonly handle: InProcessHandle;
  /** What the nodes say that they are. Default: as this machine. */
  readonly architecture?: string | undefined;
  readonly tracing?: Tracing | undefined;
  /** Besides those of every node. */
  readonly groups?: readonly string[] | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** `ready` resolves when all its nodes are. */
export function simulatedNodes({
  nodes,
  handle,
  architecture = process.arch === "arm64" ? "arm64" : "amd64",
  tracing,
  groups = [],
  clock,
  random,
  log,
  ...scripts
}: SimulatedNodesOptions): Fleet {
  const tracer = tracing?.tracer("kubelet");
  return new Fleet({
    nodes: settingsOf(nodes),
    clientOf: (name) => {
      const user = { name: `system:node:${name}`, groups: ["system:nodes", "system:authenticated", ...groups] };
      return new Client({
        transport: traced(inProcess(handle, user), tracer, "Report status of"),
        clock,
        userAgent: "kubelet",
      });
    },
    facts: { version: versionText(), architecture },
    ...scripts,
    clock,
    random,
    log,
  });
}

export function simulatedNames(nodes: NodesConfig): readonly string[] {
  return settingsOf(nodes).map(({ name }) => name);
}

/** Of a node that is added later. Undefined: there are no addresses for so many. */
export function addedSettings(nodes: NodesConfig): (name: string, number: number) => NodeSettings | undefined {
  return (name, number) => {
    try {
      const found = settingsOf({ ...nodes, own: undefined, count: number }).at(-1);
      return found === undefined ? undefined : { ...found, name };
    } catch {
      return undefined; // the ranges end before it
    }
  };
}

function settingsOf({ count, cpu, memory, pods, zones, own }: NodesConfig): readonly NodeSettings[] {
  const nameOf = (number: number) => own?.[number - 1]?.name ?? `node-${number}`;
  try {
    const all = nodesOf({ count, nameOf, cpu, memory, pods, zones, instanceType: "simulated" });
    return all.map((settings, at) => withOwn(settings, own?.[at]));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ClusterError(`--nodes ${count}: ${error.message}.`, { cause: error });
  }
}

function withOwn(settings: NodeSettings, own: NodeOwn | undefined): NodeSettings {
  if (own === undefined) return settings;
  const { labels, taints, cpu, memory, pods } = own;
  const capacity = {
    ...settings.capacity,
    ...(cpu !== undefined && { cpu: canonicalQuantity(cpu) }),
    ...(memory !== undefined && { memory: canonicalQuantity(memory) }),
    ...(pods !== undefined && { pods: String(pods) }),
  };
  return { ...settings, labels: { ...settings.labels, ...labels }, taints, capacity };
}

function versionText(): string {
  const { major, minor, patch } = KUBERNETES_VERSION;
  return `v${major}.${minor}.${patch}+k8ts${K8TS_VERSION}`;
}
