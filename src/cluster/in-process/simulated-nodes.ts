/** Simulated nodes in the API server's process: each through the whole pipeline, as its own user. */
import { K8TS_VERSION, KUBERNETES_VERSION } from "#apiserver";
import type { Clock, Logger, Random } from "#base";
import { Client, type InProcessHandle, inProcess, traced } from "#client";
import { Fleet, type FleetOptions, nodesOf } from "#kubelet";
import type { Tracing } from "#tracing";
import type { NodesConfig } from "../config/cluster-config.ts";
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

function settingsOf({ count, cpu, memory, pods, zones }: NodesConfig) {
  try {
    return nodesOf({
      count,
      cpu,
      memory,
      pods,
      zones,
      instanceType: "simulated",
    });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ClusterError(`--nodes ${count}: ${error.message}.`, { cause: error });
  }
}

function versionText(): string {
  const { major, minor, patch } = KUBERNETES_VERSION;
  return `v${major}.${minor}.${patch}+k8ts${K8TS_VERSION}`;
}
