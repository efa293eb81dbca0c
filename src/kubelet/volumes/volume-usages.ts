/**
 * The usage of all volumes of a node's Pods, measured every minute, as upstream's volumeStatsAggPeriod.
 *
 *     Pods ···► measure ──► kept ──► summary, metrics
 *                  └─► onAbnormal, if a driver says that something is wrong
 *
 * 1. Asking never waits long: a driver may hang. A Pod that was not measured yet is measured at once.
 * 2. A Pod is measured once at a time.
 */
import type { core } from "#api";
import { type Clock, childController, isAbort, type Logger } from "#base";
import type { PodVolumes } from "./pod-volumes.ts";
import type { VolumeUsage } from "./volume-usage.ts";

export interface VolumeUsagesOptions {
  readonly volumes: Pick<PodVolumes, "usage">;
  /** Pods with running containers. */
  readonly pods: () => readonly core.Pod[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly onAbnormal?: ((pod: core.Pod, usage: VolumeUsage) => void) | undefined;
  /** Aborts when the kubelet ends. */
  readonly signal: AbortSignal;
}

const EVERY_MS = 60_000;
const PATIENCE_MS = 1000;

export class VolumeUsages {
  readonly #options: VolumeUsagesOptions;
  readonly #kept = new Map<string, readonly VolumeUsage[]>();
  readonly #measuring = new Map<string, Promise<void>>();

  constructor(options: VolumeUsagesOptions) {
    this.#options = options;
  }

  async of(pod: core.Pod, signal: AbortSignal): Promise<readonly VolumeUsage[]> {
    const { uid = "" } = pod.metadata;
    if ((pod.spec?.volumes ?? []).length === 0) return [];
    if (!this.#kept.has(uid)) {
      using waiting = childController(signal);
      await Promise.race([
        this.#measure(pod),
        this.#options.clock.sleep(PATIENCE_MS, waiting.signal).catch((error: unknown) => {
          if (!isAbort(error, waiting.signal)) throw error;
        }),
      ]);
      signal.throwIfAborted();
    }
    return this.#kept.get(uid) ?? [];
  }

  /** As far as it was measured. */
  kept({ metadata: { uid = "" } }: core.Pod): readonly VolumeUsage[] {
    return this.#kept.get(uid) ?? [];
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, pods } = this.#options;
    try {
      for (;;) {
        await clock.sleep(EVERY_MS, signal);
        const now = pods();
        const uids = new Set(now.map(({ metadata }) => metadata.uid));
        for (const uid of this.#kept.keys()) if (!uids.has(uid)) this.#kept.delete(uid);
        for (const pod of now) void this.#measure(pod);
      }
    } finally {
      await Promise.all(this.#measuring.values());
    }
  }

  /** Never fails: what could not be measured is logged. */
  #measure(pod: core.Pod): Promise<void> {
    const { uid = "" } = pod.metadata;
    const running = this.#measuring.get(uid);
    if (running !== undefined) return running;
    const measuring = this.#measured(pod).finally(() => this.#measuring.delete(uid));
    this.#measuring.set(uid, measuring);
    return measuring;
  }

  async #measured(pod: core.Pod): Promise<void> {
    const { volumes, log, signal, onAbnormal } = this.#options;
    try {
      const found = await volumes.usage(pod, signal);
      this.#kept.set(pod.metadata.uid ?? "", found);
      for (const usage of found) if (usage.abnormal === true) onAbnormal?.(pod, usage);
    } catch (error) {
      if (!isAbort(error, signal)) log.warn("volumes of a pod could not be measured", { error });
    }
  }
}
