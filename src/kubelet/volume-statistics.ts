/** Measures the volumes of running Pods, for the kubelet's server, its metrics, and events about what is wrong. */
import { defaultFeatures, type Features } from "#api";
import type { Clock, Logger, MetricsRegistry, TaskGroup } from "#base";
import type { NodePods } from "./node-pods.ts";
import { VolumeUsages, volumeStatsMetrics } from "./volumes/index.ts";

export interface VolumeStatisticsOptions {
  readonly pods: Pick<NodePods, "workers" | "parts">;
  readonly tasks: TaskGroup;
  readonly metrics: MetricsRegistry;
  readonly features?: Features | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

export function startVolumeUsages(options: VolumeStatisticsOptions): VolumeUsages {
  const { pods, tasks, metrics, features = defaultFeatures, clock, log } = options;
  const measured = () =>
    pods.workers
      .list()
      .filter(({ state }) => state === "syncing")
      .map(({ pod }) => pod);
  const usages = new VolumeUsages({
    volumes: pods.parts.volumes,
    pods: measured,
    clock,
    log,
    onAbnormal: (pod, { name, message = "" }) =>
      pods.parts.events.record(pod, "Warning", "VolumeConditionAbnormal", `Volume ${name}: ${message}`),
    signal: tasks.signal,
  });
  volumeStatsMetrics(metrics, { pods: measured, kept: (pod) => usages.kept(pod) }, features.enabled("CSIVolumeHealth"));
  tasks.run("usage of volumes", (running) => usages.run(running));
  return usages;
}
