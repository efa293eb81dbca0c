/** Volumes of a cluster with nodes. Loaded in the background: nothing of a start waits for it. */
import { type Clock, type Logger, type MetricsRegistry, nextTurn, type Random, type TaskGroup } from "#base";
import type { InProcessHandle } from "#client";
import type { ClusterConfig } from "./config/cluster-config.ts";
import type { DataDir } from "./data/data-dir.ts";

export interface VolumesOptions {
  readonly config: ClusterConfig;
  readonly dir: DataDir;
  readonly handle: InProcessHandle;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

export function startVolumes(background: TaskGroup, options: VolumesOptions): void {
  const { config, dir, handle, clock, random, log, metrics } = options;
  background.run("storage", async (signal) => {
    await nextTurn();
    const { runStorage } = await import("./in-process/storage.ts");
    const elects = config.store.kind === "etcd";
    await runStorage(
      {
        handle,
        elects,
        nodes: config.nodes,
        onRealNodes: async (facts) =>
          (await import("./nodes/node-drivers.ts")).nodeDrivers({ ...facts, dataDir: dir.path, clock }),
        clock,
        random,
        log,
        metrics,
      },
      signal,
    );
  });
}
