/**
 * How the devices of drivers are, as their drivers stream it (NodeWatchResources).
 *
 * 1. What a driver has not repeated within its time is Unknown, and so is everything of a driver that is gone.
 */
import type { Clock } from "#base";

export interface DeviceState {
  readonly health: "Healthy" | "Unhealthy" | "Unknown";
  readonly message: string;
}

export interface ReportedDevice extends DeviceState {
  readonly pool: string;
  readonly device: string;
  /** 0: the default. */
  readonly timeoutMs: number;
}

const UNKNOWN: DeviceState = { health: "Unknown", message: "" };
/** DefaultHealthTimeout. */
const TIMEOUT_MS = 30_000;

export class DeviceHealth {
  readonly #clock: Clock;
  /** By driver, then by pool and device. */
  readonly #drivers = new Map<string, Map<string, DeviceState & { readonly untilMs: number; isStale: boolean }>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether something has changed. */
  report(driver: string, devices: readonly ReportedDevice[]): boolean {
    const known = this.#drivers.get(driver) ?? new Map();
    this.#drivers.set(driver, known);
    let hasChanged = false;
    for (const { pool, device, health, message, timeoutMs } of devices) {
      const before = this.of(driver, pool, device);
      hasChanged ||= before.health !== health || before.message !== message;
      const untilMs = this.#clock.monotonic() + (timeoutMs > 0 ? timeoutMs : TIMEOUT_MS);
      known.set(keyOf(pool, device), { health, message, untilMs, isStale: false });
    }
    return hasChanged;
  }

  of(driver: string, pool: string, device: string): DeviceState {
    const found = this.#drivers.get(driver)?.get(keyOf(pool, device));
    if (found === undefined || this.#clock.monotonic() >= found.untilMs) return UNKNOWN;
    return { health: found.health, message: found.message };
  }

  /** Whether something has become Unknown since the last call. */
  hasExpired(): boolean {
    const nowMs = this.#clock.monotonic();
    let any = false;
    for (const devices of this.#drivers.values())
      for (const state of devices.values()) {
        if (state.isStale || nowMs < state.untilMs) continue;
        state.isStale = true;
        any = true;
      }
    return any;
  }

  /** Whether the driver had said anything. */
  forget(driver: string): boolean {
    return this.#drivers.delete(driver);
  }
}

function keyOf(pool: string, device: string): string {
  return `${pool}/${device}`;
}
