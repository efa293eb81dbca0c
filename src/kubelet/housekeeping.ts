/** What keeps a node usable while Pods run on it: each task is a loop in its own room. */
import type { Clock, Logger, MetricsRegistry, TaskGroup } from "#base";
import type { KubeletConfig } from "./config/index.ts";
import { type EvictorOptions, evictionMetrics, runEvictor, runLocalStorage, thresholdsOf } from "./eviction/index.ts";
import { runLogRotation } from "./host/index.ts";
import { ImageGc, type ImageMetrics } from "./images/index.ts";
import type { NodeImages } from "./node-images.ts";
import type { PodWorkers } from "./pods/index.ts";
import type { Runtime } from "./runtime/runtime.ts";

export interface HousekeepingOptions extends Pick<EvictorOptions, "usage" | "onPressures"> {
  readonly config: KubeletConfig;
  readonly runtime: Runtime;
  readonly metrics: MetricsRegistry;
  readonly imageMetrics: ImageMetrics;
  readonly images: NodeImages | undefined;
  readonly workers: PodWorkers;
  readonly tasks: TaskGroup;
  readonly clock: Clock;
  readonly log: Logger;
}

export function startHousekeeping(options: HousekeepingOptions): void {
  const { config, runtime, usage, workers, tasks, clock, log, onPressures, imageMetrics } = options;
  const { rootDir, podLogsRoot, imageGcHighPercent: highPercent, imageGcLowPercent: lowPercent } = config;
  const { containerLogMaxBytes: maxBytes, containerLogMaxFiles: maxFiles, evictionHard: hard, eviction } = config;
  const thresholds = thresholdsOf({ hard, ...eviction });
  const images = new ImageGc({
    runtime,
    usage,
    highPercent,
    lowPercent,
    clock,
    log,
    onRemoved: () => imageMetrics.removed(),
    access: options.images?.access,
  });
  const metrics = evictionMetrics(options.metrics);
  const { containerLogWorkers: workersOfLogs, containerLogIntervalMs: intervalMs } = config;
  const logs = { runtime, podLogsRoot, maxBytes, maxFiles, workers: workersOfLogs, intervalMs, clock, log };
  const storage = { runtime, workers, rootDir, podLogsRoot, clock, log, metrics };
  const { transitionMs, maxPodGraceSeconds } = eviction;
  const levels = { thresholds, transitionMs, maxPodGraceSeconds };
  const evictor = { runtime, workers, images, usage, ...levels, clock, log, metrics, onPressures };
  tasks.run("image garbage collection", (signal) => images.run(signal));
  tasks.run("log rotation", (signal) => runLogRotation(logs, signal));
  if (config.localStorageIsolation) tasks.run("limits of local storage", (signal) => runLocalStorage(storage, signal));
  tasks.run("eviction", (signal) => runEvictor(evictor, signal));
}
