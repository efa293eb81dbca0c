/**
 * Checks the node every 10 s. If it runs low on a resource: reclaims images first, then evicts one Pod, and checks
 * again.
 *
 *     usage ──► thresholds ──► unused images ──► the Pod that ranks first ──► (gone) ──► usage …
 */
import type { core } from "#api";
import { type Clock, isAbort, type Logger } from "#base";
import { POD_UID } from "../containers/index.ts";
import type { MachineUsage } from "../host/index.ts";
import type { ImageGc } from "../images/index.ts";
import { podGraceSeconds } from "../lifecycle/index.ts";
import type { Pressure } from "../node/index.ts";
import { timestamp } from "../pod-status/index.ts";
import type { PodWorkers } from "../pods/index.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { evictionMessage, type PodUse, rankForEviction, type Shortage } from "./eviction.ts";
import type { EvictionMetrics } from "./eviction-metrics.ts";
import { NO_PRESSURE, observePressure, type PressureState, type Threshold } from "./thresholds.ts";

export interface EvictorOptions {
  readonly runtime: Pick<Runtime, "listContainerStats">;
  readonly workers: PodWorkers;
  readonly images: Pick<ImageGc, "removeAll">;
  readonly usage: () => Promise<MachineUsage>;
  readonly thresholds: readonly Threshold[];
  /** How long a pressure is reported after it has passed. */
  readonly transitionMs: number;
  /** The longest grace period of Pods that a soft threshold ends. */
  readonly maxPodGraceSeconds: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: EvictionMetrics | undefined;
  /** The node's pressures have changed. */
  readonly onPressures: (pressures: ReadonlySet<Pressure>) => void;
}

const CHECK_MS = 10_000;

export async function runEvictor(options: EvictorOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, usage, thresholds, transitionMs, onPressures } = options;
  let state = NO_PRESSURE;
  let lastReported = "";
  for (;;) {
    await clock.sleep(CHECK_MS, signal);
    try {
      const found = observePressure(await usage(), thresholds, state, { nowMs: clock.monotonic(), transitionMs });
      state = found.state;
      const words = [...found.pressures].join();
      if (words !== lastReported) onPressures(found.pressures);
      lastReported = words;
      if (found.due.length > 0) await relieve(options, found.due, state, signal);
    } catch (error) {
      if (isAbort(error, signal)) return;
      log.warn("eviction check failed", { error });
    }
  }
}

/** Memory first: without it the kernel kills processes at random. */
async function relieve(
  options: EvictorOptions,
  short: readonly Shortage[],
  state: PressureState,
  signal: AbortSignal,
): Promise<void> {
  const { workers, images, usage, thresholds, transitionMs, maxPodGraceSeconds, clock, log, metrics } = options;
  const measuredMs = clock.monotonic();
  const worst = short.find(({ resource }) => resource === "memory") ?? short[0];
  if (worst === undefined) return;
  if (worst.pressure === "DiskPressure") {
    await images.removeAll(signal);
    const { due } = observePressure(await usage(), thresholds, state, { nowMs: clock.monotonic(), transitionMs });
    if (!due.some(({ signal: name }) => name === worst.signal)) return;
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
  const graceSeconds = worst.isHard ? 0 : Math.min(podGraceSeconds(first.pod), maxPodGraceSeconds);
  workers.get(first.pod.metadata.uid ?? "")?.evict({ reason: "Evicted", message }, graceSeconds, [condition]);
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
