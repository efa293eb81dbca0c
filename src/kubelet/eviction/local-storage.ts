/**
 * Evicts Pods that exceed their limits of local storage; checks every 10 s.
 *
 *     volumes, writable layers, logs ··► storageProblem ──► evict
 */
import { join } from "node:path";
import { type core, formatQuantity, parseQuantity, podLimits, scaledValue } from "#api";
import { type Clock, isAbort, type Logger } from "#base";
import { CONTAINER_NAME, POD_UID, podLogDirectory } from "../containers/index.ts";
import { diskUse, volumeDirectory } from "../host/index.ts";
import type { PodWorkers } from "../pods/index.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { EvictionMetrics } from "./eviction-metrics.ts";

const CHECK_MS = 10_000;
const RESOURCE = "ephemeral-storage";
const GRACE_SECONDS = 1;

/** Bytes of disk that a Pod uses. */
export interface StorageUse {
  readonly volumes: ReadonlyMap<string, number>;
  /** Writable layer and logs. */
  readonly containers: ReadonlyMap<string, number>;
}

export interface StorageProblem {
  /** As upstream names the limit that is exceeded. */
  readonly signal: "emptydirfs.limit" | "ephemeralpodfs.limit" | "ephemeralcontainerfs.limit";
  readonly message: string;
}

/** Why the Pod is to be evicted; undefined while it keeps its limits. Pure. */
export function storageProblem(pod: core.Pod, { volumes, containers }: StorageUse): StorageProblem | undefined {
  const { spec } = pod;
  for (const { name, emptyDir } of spec?.volumes ?? []) {
    const { sizeLimit } = emptyDir ?? {};
    if (sizeLimit !== undefined && bytes(sizeLimit) > 0 && (volumes.get(name) ?? 0) > bytes(sizeLimit))
      return {
        signal: "emptydirfs.limit",
        message: `Usage of EmptyDir volume "${name}" exceeds the limit "${sizeLimit}". `,
      };
  }
  const total = podLimits(pod)[RESOURCE];
  const onDisk = (spec?.volumes ?? []).filter(({ emptyDir }) => emptyDir !== undefined && emptyDir.medium !== "Memory");
  const used = sum(containers.values()) + sum(onDisk.map(({ name }) => volumes.get(name) ?? 0));
  if (total !== undefined && used > Number(scaledValue(total, 0)))
    return {
      signal: "ephemeralpodfs.limit",
      message: `Pod ephemeral local storage usage exceeds the total limit of containers ${formatQuantity(total)}. `,
    };
  for (const { name, resources } of spec?.containers ?? []) {
    const limit = resources?.limits?.[RESOURCE];
    if (limit !== undefined && (containers.get(name) ?? 0) > bytes(limit))
      return {
        signal: "ephemeralcontainerfs.limit",
        message: `Container ${name} exceeded its local ephemeral storage limit "${limit}". `,
      };
  }
  return undefined;
}

/** Whether there is anything to measure. */
export function hasStorageLimit(pod: core.Pod): boolean {
  return (
    podLimits(pod)[RESOURCE] !== undefined ||
    (pod.spec?.volumes ?? []).some(({ emptyDir }) => emptyDir?.sizeLimit !== undefined) ||
    (pod.spec?.containers ?? []).some(({ resources }) => resources?.limits?.[RESOURCE] !== undefined)
  );
}

export interface LocalStorageOptions {
  readonly runtime: Pick<Runtime, "listContainerStats">;
  readonly workers: PodWorkers;
  readonly rootDir: string;
  readonly podLogsRoot: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: Pick<EvictionMetrics, "evicted"> | undefined;
}

export async function runLocalStorage(options: LocalStorageOptions, signal: AbortSignal): Promise<void> {
  const { workers, clock, log, metrics } = options;
  for (;;) {
    await clock.sleep(CHECK_MS, signal);
    for (const worker of workers.list().filter(({ state, pod }) => state === "syncing" && hasStorageLimit(pod))) {
      try {
        const problem = storageProblem(worker.pod, await storageUse(options, worker.pod, signal));
        if (problem === undefined) continue;
        const { signal: limit, message } = problem;
        log.warn("pod evicted", { pod: worker.pod.metadata.name, reason: message });
        metrics?.evicted(limit);
        worker.evict({ reason: "Evicted", message }, GRACE_SECONDS);
      } catch (error) {
        if (isAbort(error, signal)) return;
        log.warn("local storage of a pod could not be measured", { pod: worker.pod.metadata.name, error });
      }
    }
  }
}

async function storageUse(options: LocalStorageOptions, pod: core.Pod, signal: AbortSignal): Promise<StorageUse> {
  const { runtime, rootDir, podLogsRoot } = options;
  const { uid = "" } = pod.metadata;
  const volumes = new Map<string, number>();
  for (const { name, emptyDir } of pod.spec?.volumes ?? []) {
    if (emptyDir !== undefined)
      volumes.set(name, (await diskUse(volumeDirectory(rootDir, uid, "empty-dir", name))).bytes);
  }
  const containers = new Map<string, number>();
  for (const { labels, writableLayerBytes } of await runtime.listContainerStats(
    { labels: { [POD_UID]: uid } },
    signal,
  )) {
    const name = labels[CONTAINER_NAME] ?? "";
    const { bytes: logs } = await diskUse(join(podLogDirectory(podLogsRoot, pod), name));
    containers.set(name, writableLayerBytes + logs);
  }
  return { volumes, containers };
}

function bytes(quantity: string): number {
  return Number(scaledValue(parseQuantity(quantity), 0));
}

function sum(amounts: Iterable<number>): number {
  let total = 0;
  for (const amount of amounts) total += amount;
  return total;
}
