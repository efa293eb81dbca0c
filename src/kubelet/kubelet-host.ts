/** What a kubelet uses of its machine. Tests replace it by one in memory. */
import type { Clock, Logger, MetricsRegistry, Random } from "#base";
import type { Client } from "#client";
import type { KubeletConfig } from "./config/index.ts";
import type { NodeFacts } from "./containers/index.ts";
import {
  hostCgroups,
  hostFiles,
  hostMounter,
  type Machine,
  type MachineUsage,
  type PodCgroups,
  type PodFiles,
  readHierarchies,
  readMachine,
  readUsage,
} from "./host/index.ts";
import { cgroupVersionMetric } from "./node/index.ts";
import type { PodObjects } from "./objects/index.ts";
import type { PodCalls } from "./runtime/recorded.ts";
import type { Runtime } from "./runtime/runtime.ts";
import { type CsiVolumes, hostVolumes, type PodVolumes, volumeOperationMetrics } from "./volumes/index.ts";

export interface KubeletHost {
  readonly machine: Machine;
  readonly files: PodFiles;
  readonly cgroups: PodCgroups;
  readonly volumes: (objects: PodObjects, facts: () => NodeFacts, callsOf: (podUid: string) => PodCalls) => PodVolumes;
  readonly usage: () => Promise<MachineUsage>;
}

export interface MachineHostOptions {
  readonly config: KubeletConfig;
  readonly client: Client;
  readonly csi?: CsiVolumes | undefined;
  readonly runtime: Pick<Runtime, "images">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

/** This machine. */
export async function machineHost({
  config,
  csi,
  runtime,
  metrics,
  ...parts
}: MachineHostOptions): Promise<KubeletHost> {
  const { rootDir: root, podLogsRoot, resolvConf, cgroupRoot, podPidsLimit } = config;
  const mounter = hostMounter();
  const hierarchies = await readHierarchies();
  const observer = volumeOperationMetrics(metrics, parts.clock);
  cgroupVersionMetric(metrics, hierarchies.version);
  return {
    machine: await readMachine(root, resolvConf),
    files: hostFiles({ root, podLogsRoot, mounter }),
    cgroups: hostCgroups(hierarchies, { cgroupRoot, podPidsLimit, log: parts.log }),
    volumes: (objects, facts, callsOf) =>
      hostVolumes({ ...parts, root, mounter, objects, facts, csi, callsOf, images: runtime.images.mounts, observer }),
    usage: () => readUsage(root),
  };
}
