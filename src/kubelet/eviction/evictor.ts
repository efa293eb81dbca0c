/**
 * Checks the node every 10 s. If it runs low on a resource: reclaims images first, then evicts one Pod, and checks
 * again. A pressure is still reported for 5 minutes after it has passed, so that the condition does not flap.
 *
 *     usage ──► shortages ──► unused images ──► the Pod that ranks first ──► (gone) ──► usage …
 */
import type { core } from "#api";
import { type Clock, isAbort, type Logger } from "#base";
import { POD_UID } from "../containers/index.ts";
import type { MachineUsage } from "../host/index.ts";
import type { ImageGc } from "../images/index.ts";
import type { Pressure } from "../node/index.ts";
import { timestamp } from "../pod-status/index.ts";
import type { PodWorkers } from "../pods/index.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { evictionMessage, type PodUse, rankForEviction, type Shortage, shortages } from "./eviction.ts";
import type { EvictionMetrics } from "./eviction-metrics.ts";

export interface EvictorOptions {
  readonly runtime: Pick<Runtime, "listContainerStats">;
  readonly workers: PodWorkers;
  readonly images: Pick<ImageGc, "removeAll">;
  readonly usage: () => Promise<MachineUsage>;
  readonly thresholds: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: EvictionMetrics | undefined;
  /** The node's pressures have changed. */
  readonly onPressures: (pressures: ReadonlySet<Pressure>) => void;
}

const CHECK_MS = 10_000;
/** How long a pressure is reported after it has passed. */
const TRANSITION_MS = 300_000;

export async function runEvictor(options: EvictorOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, usage, thresholds, onPressures } = options;
  const lastSeen = new Map<Pressure, number>();
  let lastReported = "";
  for (;;) {
    await clock.sleep(CHECK_MS, signal);
    try {
      const short = shortages(await usage(), thresholds);
      for (const { pressure } of short) lastSeen.set(pressure, clock.monotonic());
      for (const [pressure, atMs] of lastSeen) if (clock.monotonic() - atMs > TRANSITION_MS) lastSeen.delete(pressure);
      const words = [...lastSeen.keys()].join();
      if (words !== lastReported) onPressures(new Set(lastSeen.keys()));
      lastReported = words;
      if (short.length > 0) await relieve(options, short, signal);
    } catch (error) {
      if (isAbort(error, signal)) return;
      log.warn("eviction check failed", { error });
    }
  }
}

/** Memory first: without it the kernel kills processes at random. */
async function relieve(options: EvictorOptions, short: readonly Shortage[], signal: AbortSignal): Promise<void> {
  const { workers, images, usage, thresholds, clock, log, metrics } = options;
  const measuredMs = clock.monotonic();
  const worst = short.find(({ resource }) => resource === "memory") ?? short[0];
  if (worst === undefined) return;
  if (worst.pressure === "DiskPressure") {
    await images.removeAll(signal);
    const left = shortages(await usage(), thresholds);
    if (!left.some(({ signal: name }) => name === worst.signal)) return;
  }
  const [first] = rankForEviction(await podUses(options, worst, signal), worst.resource);
  if (first === undefined) {
    log.warn("the node is low on a resource, but no pod can be evicted", { signal: worst.signal });
    return;
  }
  const message = evictionMessage(worst);
  const condition: core.PodCondition = {
    type: "DisruptionTarget",
    status: "True",
    reason: "TerminationByKubelet",
    message,
    lastTransitionTime: timestamp(clock.now()),
  };
  log.warn("pod evicted", { pod: first.pod.metadata.name, reason: message });
  metrics?.statsAge(worst.signal, (clock.monotonic() - measuredMs) / 1000);
  metrics?.evicted(worst.signal);
  workers.get(first.pod.metadata.uid ?? "")?.evict({ reason: "Evicted", message }, 0, [condition]);
}

async function podUses(
  { runtime, workers }: EvictorOptions,
  { resource }: Shortage,
  signal: AbortSignal,
): Promise<readonly PodUse[]> {
  const used = new Map<string, number>();
  for (const {
    labels,
    memoryWorkingSetBytes,
    writableLayerBytes,
    writableLayerInodes,
  } of await runtime.listContainerStats(undefined, signal)) {
    const uid = labels[POD_UID] ?? "";
    const amounts = {
      memory: memoryWorkingSetBytes,
      "ephemeral-storage": writableLayerBytes,
      inodes: writableLayerInodes,
      pids: 0,
    };
    used.set(uid, (used.get(uid) ?? 0) + amounts[resource]);
  }
  return workers
    .list()
    .filter(({ state }) => state === "syncing")
    .map(({ uid, pod }) => ({ pod, used: used.get(uid) ?? 0 }));
}
