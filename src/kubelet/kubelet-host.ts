/** What a kubelet uses of its machine. Tests replace it by one in memory. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, Logger, MetricsRegistry, Random } from "#base";
import type { Client } from "#client";
import type { KubeletConfig } from "./config/index.ts";
import { cgroupLayout, type NodeFacts, type ResourceRules } from "./containers/index.ts";
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
  readSysFile,
  readUsage,
  requireSystemd,
  sliceMaker,
} from "./host/index.ts";
import { cgroupVersionMetric } from "./node/index.ts";
import { machineProblem, type StateFiles } from "./node-resources.ts";
import type { PodObjects } from "./objects/index.ts";
import type { PodCalls } from "./runtime/recorded.ts";
import type { Runtime } from "./runtime/runtime.ts";
import { type MachineTopology, readTopology } from "./topology/index.ts";
import { type CsiVolumes, hostVolumes, type PodVolumes, volumeOperationMetrics } from "./volumes/index.ts";

export interface KubeletHost {
  readonly machine: Machine;
  /** Default: v1. */
  readonly cgroupVersion?: 1 | 2 | undefined;
  /** It is in a user namespace: nobody makes device files there. Default: it is not. */
  readonly isInUserNamespace?: boolean | undefined;
  /** Default: one NUMA node with the machine's CPUs and memory. */
  readonly topology?: MachineTopology | undefined;
  /** Default: nothing is kept. */
  readonly state?: StateFiles | undefined;
  readonly files: PodFiles;
  readonly cgroups: PodCgroups;
  readonly volumes: (objects: PodObjects, facts: () => NodeFacts, callsOf: (podUid: string) => PodCalls) => PodVolumes;
  readonly usage: () => Promise<MachineUsage>;
}

export interface MachineHostOptions {
  readonly rulesOf: (machine: Machine, cgroupVersion: 1 | 2) => ResourceRules;
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
  rulesOf,
  ...parts
}: MachineHostOptions): Promise<KubeletHost> {
  const { rootDir: root, podLogsRoot, resolvConf, podPidsLimit } = config;
  const isSystemd = config.cgroups.driver === "systemd";
  if (isSystemd) await requireSystemd();
  const mounter = hostMounter();
  const hierarchies = await readHierarchies();
  const observer = volumeOperationMetrics(metrics, parts.clock);
  cgroupVersionMetric(metrics, hierarchies.version);
  const machine = await readMachine(root, resolvConf);
  const { version: cgroupVersion } = hierarchies;
  const problem = machineProblem(config, { swapBytes: machine.swapBytes, cgroupVersion });
  if (problem !== undefined) throw new Error(problem);
  let known: string | undefined;
  // Once the runtime has answered: it does not move its images.
  const imageRoot = async () => {
    known ??= await runtime.images.filesystemUsage().then(
      ([first]) => first?.mountpoint,
      () => undefined,
    );
    return known === "" ? undefined : known;
  };
  return {
    machine,
    cgroupVersion,
    isInUserNamespace: !/^\s*0\s+0\s+4294967295\s*$/.test(await readFile("/proc/self/uid_map", "utf8")),
    topology: await readTopology(readSysFile, machine),
    state: stateFiles(root),
    files: hostFiles({ root, podLogsRoot, mounter }),
    cgroups: hostCgroups(hierarchies, {
      layout: cgroupLayout(config),
      podPidsLimit,
      rules: rulesOf(machine, cgroupVersion),
      makeSlice: isSystemd ? sliceMaker() : undefined,
      log: parts.log,
    }),
    volumes: (objects, facts, callsOf) =>
      hostVolumes({ ...parts, root, mounter, objects, facts, csi, callsOf, images: runtime.images.mounts, observer }),
    usage: async () => readUsage(root, await imageRoot()),
  };
}

/** A file is replaced as a whole: a kubelet that is killed leaves the one before. */
function stateFiles(root: string): StateFiles {
  return {
    async read(name) {
      return readFile(join(root, name), "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      });
    },
    async write(name, text) {
      const temporary = join(root, `.${name}.tmp`);
      await writeFile(temporary, text, { mode: 0o600 });
      await rename(temporary, join(root, name));
    },
  };
}
