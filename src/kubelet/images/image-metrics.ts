/** Metrics of images: how long pulls take, what garbage collection removes, and images as volumes. */
import type { MetricsRegistry } from "#base";

export interface ImageMetrics {
  pulled(seconds: number, sizeBytes: number): void;
  /** Garbage collection has removed one. */
  removed(): void;
  volumeRequested(): void;
  volumeMounted(isDone: boolean): void;
}

const MB = 1024 * 1024;
const GB = 1024 * MB;
const PULL_SECONDS = [1, 5, 10, 20, 30, 60, 180, 300, 600, 900, 1200, 1800, 2700, 3600];
/** Upstream's labels for sizes above these. */
const SIZES: readonly (readonly [number, string])[] = [
  [100 * GB, "GT100GB"],
  [60 * GB, "60GB-100GB"],
  [40 * GB, "40GB-60GB"],
  [30 * GB, "30GB-40GB"],
  [20 * GB, "20GB-30GB"],
  [10 * GB, "10GB-20GB"],
  [5 * GB, "5GB-10GB"],
  [GB, "1GB-5GB"],
  [500 * MB, "500MB-1GB"],
  [100 * MB, "100MB-500MB"],
  [10 * MB, "10MB-100MB"],
  [0, "0-10MB"],
];

export function sizeLabel(sizeBytes: number): string {
  return SIZES.find(([above]) => sizeBytes > above)?.[1] ?? "N/A";
}

export function imageMetrics(metrics: MetricsRegistry): ImageMetrics {
  const pull = metrics.histogram({
    name: "kubelet_image_pull_duration_seconds",
    help: "Duration in seconds to pull an image.",
    labels: ["image_size_in_bytes"],
    buckets: PULL_SECONDS,
  });
  const collected = metrics.counter({
    name: "kubelet_image_garbage_collected_total",
    help: "Total number of images garbage collected by the kubelet, whether through disk usage or image age.",
    labels: ["reason"],
  });
  const volume = (name: string, help: string) =>
    metrics.counter({ name: `kubelet_image_volume_${name}`, help, stability: "BETA" }).labels();
  const requested = volume("requested_total", "Number of requested image volumes.");
  const succeeded = volume("mounted_succeed_total", "Number of successful image volume mounts.");
  const failed = volume("mounted_errors_total", "Number of failed image volume mounts.");
  return {
    pulled: (seconds, sizeBytes) => pull.labels(sizeLabel(sizeBytes)).observe(seconds),
    removed: () => collected.labels("space").inc(),
    volumeRequested: () => requested.inc(),
    volumeMounted: (isDone) => (isDone ? succeeded : failed).inc(),
  };
}
