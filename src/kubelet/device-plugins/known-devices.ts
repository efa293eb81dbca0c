/**
 * The devices that plugins have listed, and what they make of the Node's capacity. Pure: times are passed in.
 *
 * 1. Capacity counts all devices of a resource, allocatable the healthy ones.
 * 2. Without its plugin a resource has no healthy device. After the grace time it is no resource of the node any more:
 *    it is reported as 0 once, because a strategic merge patch cannot take it away.
 */

export interface PluginDevice {
  readonly id: string;
  readonly isHealthy: boolean;
  /** Empty: the plugin has not said. */
  readonly numaNodes: readonly number[];
}

export interface Amounts {
  readonly capacity: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
}

export type Health = "Healthy" | "Unhealthy" | "Unknown";

interface Resource {
  readonly devices: ReadonlyMap<string, PluginDevice>;
  /** When its plugin went away; undefined while it is there. */
  readonly stoppedAtMs: number | undefined;
}

/** endpointStopGracePeriod. */
const GRACE_MS = 5 * 60_000;

export class KnownDevices {
  readonly #resources = new Map<string, Resource>();
  readonly #removed = new Set<string>();

  /** Resources of an earlier kubelet: none of their devices is known until their plugins register again. */
  remember(names: readonly string[], nowMs: number): void {
    for (const name of names) this.#resources.set(name, { devices: new Map(), stoppedAtMs: nowMs });
  }

  /** A plugin is there, which has not listed its devices yet. */
  begun(resource: string): void {
    const { devices = new Map() } = this.#resources.get(resource) ?? {};
    this.#removed.delete(resource);
    this.#resources.set(resource, { devices, stoppedAtMs: undefined });
  }

  /** The ids of the devices whose health has changed. */
  set(resource: string, listed: readonly PluginDevice[]): readonly string[] {
    const before = this.devices(resource);
    this.#resources.set(resource, {
      devices: new Map(listed.map((device) => [device.id, device])),
      stoppedAtMs: undefined,
    });
    return listed.filter(({ id, isHealthy }) => before.get(id)?.isHealthy !== isHealthy).map(({ id }) => id);
  }

  stopped(resource: string, nowMs: number): void {
    const devices = [...this.devices(resource).values()].map((device) => ({ ...device, isHealthy: false }));
    this.#resources.set(resource, {
      devices: new Map(devices.map((device) => [device.id, device])),
      stoppedAtMs: nowMs,
    });
  }

  has(resource: string): boolean {
    return this.#resources.has(resource);
  }

  names(): readonly string[] {
    return [...this.#resources.keys()];
  }

  devices(resource: string): ReadonlyMap<string, PluginDevice> {
    return this.#resources.get(resource)?.devices ?? new Map();
  }

  healthy(resource: string): ReadonlySet<string> {
    const found = [...this.devices(resource).values()].filter(({ isHealthy }) => isHealthy);
    return new Set(found.map(({ id }) => id));
  }

  health(resource: string, id: string): Health {
    const known = this.#resources.get(resource);
    const device = known?.devices.get(id);
    if (device === undefined || known?.stoppedAtMs !== undefined) return "Unknown";
    return device.isHealthy ? "Healthy" : "Unhealthy";
  }

  /** Whether resources were given up because their grace time is over. */
  expire(nowMs: number): boolean {
    const over = [...this.#resources].filter(
      ([, { stoppedAtMs }]) => stoppedAtMs !== undefined && nowMs - stoppedAtMs >= GRACE_MS,
    );
    for (const [name] of over) {
      this.#resources.delete(name);
      this.#removed.add(name);
    }
    return over.length > 0;
  }

  amounts(): Amounts {
    const capacity: Record<string, string> = {};
    const allocatable: Record<string, string> = {};
    for (const name of this.#removed) capacity[name] = allocatable[name] = "0";
    for (const [name, { devices }] of this.#resources) {
      capacity[name] = String(devices.size);
      allocatable[name] = String(this.healthy(name).size);
    }
    return { capacity, allocatable };
  }

  /** The Node has been written with these amounts: what was given up need not be repeated. */
  reported(capacity: Readonly<Record<string, string>>): void {
    for (const name of this.#removed) if ((capacity[name] ?? "0") === "0") this.#removed.delete(name);
  }
}
