/** The DRA drivers that have registered with this kubelet, each with its connection. */
import type { Clock } from "#base";
import { DRA_SERVICES, draMethods } from "#devices";
import { type Channel, openChannel } from "#grpc";
import type { Plugin, PluginHandler } from "../plugins/index.ts";

export interface ClaimName {
  readonly namespace: string;
  readonly uid: string;
  readonly name: string;
}

export interface PreparedDevice {
  /** Empty: the device is for all requests of the claim. */
  readonly requestNames: readonly string[];
  readonly poolName: string;
  readonly deviceName: string;
  readonly cdiDeviceIds: readonly string[];
}

export interface DraDriver {
  /** By uid of the claim; those without an entry were not prepared. */
  prepare(
    claims: readonly ClaimName[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, { readonly devices: readonly PreparedDevice[]; readonly error: string }>>;
  /** By uid of the claim: an empty error means success. */
  unprepare(claims: readonly ClaimName[], signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
}

/** PluginClientTimeout of the kubelet. */
const CALL_TIMEOUT_MS = 45_000;

export class DraDrivers implements PluginHandler {
  readonly #drivers = new Map<string, DraDriver & { readonly channel: Channel }>();
  readonly #clock: Clock;
  readonly #onRegistered: () => void;

  /** `onRegistered`: Pods may be waiting for the driver. */
  constructor(clock: Clock, onRegistered: () => void = () => {}) {
    this.#clock = clock;
    this.#onRegistered = onRegistered;
  }

  get(name: string): DraDriver {
    const found = this.#drivers.get(name);
    if (found === undefined) throw new Error(`DRA driver ${name} is not registered`);
    return found;
  }

  async register({ name, endpoint, versions }: Plugin): Promise<void> {
    const service = DRA_SERVICES.find((known) => versions.includes(known));
    if (service === undefined)
      throw new Error(
        `none of the versions supported by DRA driver ${name} are supported by this kubelet: ${versions.join(", ")}`,
      );
    const { NodePrepareResources, NodeUnprepareResources } = draMethods(service);
    const channel = openChannel(endpoint, { clock: this.#clock, timeoutMs: CALL_TIMEOUT_MS });
    this.#drivers.get(name)?.channel.close();
    this.#drivers.set(name, {
      channel,
      async prepare(claims, signal) {
        const { claims: entries } = await channel.call(NodePrepareResources, { claims }, { signal });
        return new Map(entries.map(({ key, value }) => [key, value ?? { devices: [], error: "" }]));
      },
      async unprepare(claims, signal) {
        const { claims: entries } = await channel.call(NodeUnprepareResources, { claims }, { signal });
        return new Map(entries.map(({ key, value }) => [key, value?.error ?? ""]));
      },
    });
    this.#onRegistered();
  }

  async deregister(name: string): Promise<void> {
    this.#drivers.get(name)?.channel.close();
    this.#drivers.delete(name);
  }

  close(): void {
    for (const { channel } of this.#drivers.values()) channel.close();
    this.#drivers.clear();
  }
}
