/** What a kubelet uses of its machine. Tests replace it by one in memory. */
import type { Clock, Logger, Random } from "#base";
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
import type { PodObjects } from "./objects/index.ts";
import type { Runtime } from "./runtime/runtime.ts";
import { type CsiVolumes, hostVolumes, type PodVolumes } from "./volumes/index.ts";

export interface KubeletHost {
  readonly machine: Machine;
  readonly files: PodFiles;
  readonly cgroups: PodCgroups;
  readonly volumes: (objects: PodObjects, facts: () => NodeFacts) => PodVolumes;
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
}

/** This machine. */
export async function machineHost({ config, csi, runtime, ...parts }: MachineHostOptions): Promise<KubeletHost> {
  const { rootDir: root, podLogsRoot, resolvConf, cgroupRoot, podPidsLimit } = config;
  const mounter = hostMounter();
  return {
    machine: await readMachine(root, resolvConf),
    files: hostFiles({ root, podLogsRoot, mounter }),
    cgroups: hostCgroups(await readHierarchies(), { cgroupRoot, podPidsLimit, log: parts.log }),
    volumes: (objects, facts) =>
      hostVolumes({ ...parts, root, mounter, objects, facts, csi, images: runtime.images.mounts }),
    usage: () => readUsage(root),
  };
}
