/**
 * How many volumes a driver can have on this node may change while it runs: the limit in the CSINode is renewed as
 * often as the driver's CSIDriver says (nodeAllocatableUpdatePeriodSeconds), and at once when the driver has no room.
 *
 *     CSIDriver --► period ··► NodeGetInfo ══► CSINode.spec.drivers[].allocatable.count
 *     attachment failed with ResourceExhausted ──► NodeGetInfo ══► …
 *
 * 1. A driver that cannot be asked keeps its last limit.
 */
import { kinds, type storage } from "#api";
import { type Clock, childController, isAbort, type Logger, type Random } from "#base";
import { type Client, Informer } from "#client";

export interface LimitsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Those that are registered. */
  readonly drivers: { names(): readonly string[]; refresh(name: string, signal: AbortSignal): Promise<void> };
}

/** How soon a new driver, or a new period, is noticed: the shortest period that a CSIDriver can have. */
const LOOK_MS = 10_000;

export class DriverLimits {
  readonly #options: LimitsOptions;
  readonly #objects: Informer<storage.CSIDriver>;
  readonly #refreshedMs = new Map<string, number>();
  readonly #exhausted = new Set<string>();
  #wake: (() => void) | undefined;

  constructor(options: LimitsOptions) {
    this.#options = options;
    const { client, clock, random, log } = options;
    this.#objects = new Informer<storage.CSIDriver>({ client: client.of(kinds.CSIDriver), clock, random, log });
  }

  /** The driver had no room for a volume: its limit is wrong. */
  exhausted(driver: string): void {
    if (this.periodMs(driver) === undefined) return;
    this.#exhausted.add(driver);
    this.#wake?.();
  }

  /** Undefined: the limit does not change. */
  periodMs(driver: string): number | undefined {
    const seconds = this.#objects.cache.get(driver)?.spec.nodeAllocatableUpdatePeriodSeconds;
    return seconds === undefined ? undefined : Number(seconds) * 1000;
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#objects.run(signal), this.#refreshLoop(signal)]);
  }

  async #refreshLoop(signal: AbortSignal): Promise<void> {
    const { drivers, clock, log } = this.#options;
    for (;;) {
      const names = drivers.names();
      for (const name of this.#refreshedMs.keys()) if (!names.includes(name)) this.#refreshedMs.delete(name);
      let waitMs = LOOK_MS;
      for (const name of names) {
        const periodMs = this.periodMs(name);
        if (periodMs === undefined) continue;
        const sinceMs = this.#refreshedMs.get(name);
        const isDue = sinceMs !== undefined && clock.monotonic() - sinceMs >= periodMs;
        // It has just registered, with its limit.
        if (sinceMs === undefined) this.#refreshedMs.set(name, clock.monotonic());
        if (isDue || this.#exhausted.delete(name)) {
          this.#refreshedMs.set(name, clock.monotonic());
          await drivers.refresh(name, signal).catch((error: unknown) => {
            if (isAbort(error, signal)) throw error;
            log.warn("the limit of volumes of a CSI driver could not be renewed", { driver: name, error });
          });
        }
        const lastMs = this.#refreshedMs.get(name) ?? clock.monotonic();
        waitMs = Math.min(waitMs, Math.max(0, lastMs + periodMs - clock.monotonic()));
      }
      await this.#wait(waitMs, signal);
    }
  }

  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    using waiting = childController(signal);
    this.#wake = () => waiting.abort();
    try {
      await this.#options.clock.sleep(ms, waiting.signal);
    } catch (error) {
      if (signal.aborted || !isAbort(error, waiting.signal)) throw error;
    } finally {
      this.#wake = undefined;
    }
  }
}

/** gRPC's code for a driver that has no room. */
const RESOURCE_EXHAUSTED = 8;

export function isExhausted({ status }: storage.VolumeAttachment): boolean {
  return Number(status?.attachError?.errorCode ?? 0) === RESOURCE_EXHAUSTED;
}
