/** How long it takes to mount, unmount and measure volumes, by plugin. */
import type { core } from "#api";
import type { Clock, MetricsRegistry } from "#base";

export type VolumeOperation = "volume_mount" | "volume_unmount";

export interface VolumeObserver {
  /** Measures `work`, whether it succeeds or not. */
  operation<T>(plugin: string, name: VolumeOperation, work: () => Promise<T>): Promise<T>;
  measured(plugin: string, seconds: number): void;
}

const SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600];

export function volumeOperationMetrics(metrics: MetricsRegistry, clock: Clock): VolumeObserver {
  const duration = metrics.histogram({
    name: "storage_operation_duration_seconds",
    help: "Storage operation duration",
    labels: ["volume_plugin", "operation_name", "status", "migrated"],
    buckets: SECONDS,
  });
  const collection = metrics.histogram({
    name: "kubelet_volume_metric_collection_duration_seconds",
    help: "Duration in seconds to calculate volume stats",
    labels: ["metric_source"],
    buckets: SECONDS,
  });
  return {
    async operation(plugin, name, work) {
      const startMs = clock.monotonic();
      const done = (status: string) =>
        duration.labels(plugin, name, status, "false").observe((clock.monotonic() - startMs) / 1000);
      try {
        const result = await work();
        done("success");
        return result;
      } catch (error) {
        done("fail-unknown");
        throw error;
      }
    },
    measured: (plugin, seconds) => collection.labels(plugin).observe(seconds),
  };
}

export const unobserved: VolumeObserver = { operation: (_, __, work) => work(), measured: () => {} };

const PLUGINS = {
  configMap: "configmap",
  secret: "secret",
  downwardAPI: "downward-api",
  projected: "projected",
  emptyDir: "empty-dir",
  hostPath: "host-path",
  image: "image",
  nfs: "nfs",
} as const;

/** As upstream calls the plugin of a volume. `driver`: of a CSI volume. */
export function pluginOf(volume: core.Volume, driver?: string): string {
  if (driver !== undefined) return `kubernetes.io/csi:${driver}`;
  const kind = (Object.keys(PLUGINS) as (keyof typeof PLUGINS)[]).find((each) => volume[each] !== undefined);
  return `kubernetes.io/${kind === undefined ? "local-volume" : PLUGINS[kind]}`;
}
