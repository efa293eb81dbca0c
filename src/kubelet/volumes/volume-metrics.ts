/** kubelet_volume_stats_*: the usage of volumes by their claims. A claim that several Pods have counts once. */
import type { core } from "#api";
import type { MetricsRegistry } from "#base";
import type { VolumeFigures, VolumeUsage } from "./volume-usage.ts";

const LABELS = ["namespace", "persistentvolumeclaim"] as const;

const FAMILIES: readonly (readonly [string, string, keyof VolumeFigures])[] = [
  ["capacity_bytes", "Capacity in bytes of the volume", "capacityBytes"],
  ["available_bytes", "Number of available bytes in the volume", "availableBytes"],
  ["used_bytes", "Number of used bytes in the volume", "usedBytes"],
  ["inodes", "Maximum number of inodes in the volume", "inodes"],
  ["inodes_free", "Number of free inodes in the volume", "inodesFree"],
  ["inodes_used", "Number of used inodes in the volume", "inodesUsed"],
];

export interface VolumeStatsSource {
  readonly pods: () => readonly core.Pod[];
  readonly kept: (pod: core.Pod) => readonly VolumeUsage[];
}

/** `hasHealth`: drivers are asked whether something is wrong. */
export function volumeStatsMetrics(metrics: MetricsRegistry, source: VolumeStatsSource, hasHealth: boolean): void {
  const families = FAMILIES.map(([name, help, field]) => ({
    family: metrics.gauge({ name: `kubelet_volume_stats_${name}`, help, labels: LABELS }),
    read: (usage: VolumeUsage) => usage[field],
  }));
  if (hasHealth)
    families.push({
      family: metrics.gauge({
        name: "kubelet_volume_stats_health_status_abnormal",
        help: "Abnormal volume health status. The count is either 1 or 0: 1 if the volume is unhealthy.",
        labels: LABELS,
      }),
      read: ({ abnormal }) => (abnormal === undefined ? undefined : Number(abnormal)),
    });
  metrics.collect(() => {
    const byClaim = claimed(source.pods().flatMap(source.kept));
    for (const { family, read } of families) {
      family.clear();
      for (const usage of byClaim) {
        const value = read(usage);
        if (value !== undefined) family.labels(usage.claim?.namespace ?? "", usage.claim?.name ?? "").set(value);
      }
    }
  });
}

function claimed(usages: readonly VolumeUsage[]): readonly VolumeUsage[] {
  const found = new Map<string, VolumeUsage>();
  for (const usage of usages) {
    const key = usage.claim && `${usage.claim.namespace}/${usage.claim.name}`;
    if (key !== undefined && !found.has(key)) found.set(key, usage);
  }
  return [...found.values()];
}
