/**
 * The DRA drivers that have registered with this kubelet, each with its connection.
 *
 *     register ──► v1, or v1beta1 ──► prepare, unprepare
 *              └─► NodeWatchResources --► DeviceHealth, if the driver serves it
 */
import { type Clock, isAbort, type Logger, silentLogger, TaskGroup } from "#base";
import { DRA_SERVICES, draHealthMethods, draMethods, HealthStatus } from "#devices";
import { type Channel, isGrpcError, openChannel } from "#grpc";
import type { Plugin, PluginHandler } from "../plugins/index.ts";
import { DeviceHealth, type ReportedDevice } from "./device-health.ts";
import { type DraMetrics, unmeasured } from "./dra-metrics.ts";

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
  /** Of a device that several claims share. */
  readonly shareId?: string | undefined;
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

export interface DraDriversOptions {
  readonly clock: Clock;
  readonly log?: Logger | undefined;
  readonly metrics?: DraMetrics | undefined;
  /** Default: drivers are not asked how their devices are. */
  readonly watchesHealth?: boolean | undefined;
  /** What a driver says about its devices has changed. */
  readonly onHealth?: ((driver: string) => void) | undefined;
}

interface Registered extends DraDriver {
  readonly channel: Channel;
  readonly ending: AbortController;
}

/** PluginClientTimeout of the kubelet. */
const CALL_TIMEOUT_MS = 45_000;
const HEALTH_RETRY_MS = 5_000;
const HEALTH = {
  [HealthStatus.UNKNOWN]: "Unknown",
  [HealthStatus.HEALTHY]: "Healthy",
  [HealthStatus.UNHEALTHY]: "Unhealthy",
} as const;

export class DraDrivers implements PluginHandler {
  readonly health: DeviceHealth;
  readonly #drivers = new Map<string, Registered>();
  readonly #options: DraDriversOptions;
  readonly #tasks = new TaskGroup();

  constructor(options: DraDriversOptions) {
    this.#options = options;
    this.health = new DeviceHealth(options.clock);
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
    const { clock, metrics = unmeasured, watchesHealth = false } = this.#options;
    const { NodePrepareResources, NodeUnprepareResources } = draMethods(service);
    const channel = openChannel(endpoint, { clock, timeoutMs: CALL_TIMEOUT_MS });
    const driver: Registered = {
      channel,
      ending: new AbortController(),
      async prepare(claims, signal) {
        const call = () => channel.call(NodePrepareResources, { claims }, { signal });
        const { claims: entries } = await metrics.called(name, NodePrepareResources.path, call);
        return new Map(entries.map(({ key, value }) => [key, value ?? { devices: [], error: "" }]));
      },
      async unprepare(claims, signal) {
        const call = () => channel.call(NodeUnprepareResources, { claims }, { signal });
        const { claims: entries } = await metrics.called(name, NodeUnprepareResources.path, call);
        return new Map(entries.map(({ key, value }) => [key, value?.error ?? ""]));
      },
    };
    this.#end(name);
    this.#drivers.set(name, driver);
    if (watchesHealth)
      this.#tasks.run(`health of ${name}`, (running) =>
        this.#watch(name, driver, AbortSignal.any([running, driver.ending.signal])),
      );
  }

  async deregister(name: string): Promise<void> {
    this.#end(name);
    this.#drivers.delete(name);
  }

  #end(name: string): void {
    const before = this.#drivers.get(name);
    before?.ending.abort();
    before?.channel.close();
  }

  /** Until the driver is gone, or says that it does not know. */
  async #watch(name: string, { channel }: Registered, signal: AbortSignal): Promise<void> {
    const { clock, log = silentLogger } = this.#options;
    const { NodeWatchResources } = draHealthMethods();
    try {
      for (;;) {
        try {
          for await (const { devices } of channel.stream(NodeWatchResources, {}, signal))
            if (this.health.report(name, devices.map(reported))) this.#options.onHealth?.(name);
        } catch (error) {
          if (isAbort(error, signal)) return;
          if (isGrpcError(error) && error.code === "UNIMPLEMENTED") return;
          log.warn("the health of a driver's devices could not be watched", { driver: name, error });
        }
        this.#forget(name);
        await clock.sleep(HEALTH_RETRY_MS, signal);
      }
    } catch (error) {
      if (!isAbort(error, signal)) throw error;
    } finally {
      if (!this.#tasks.signal.aborted) this.#forget(name);
    }
  }

  #forget(name: string): void {
    if (this.health.forget(name)) this.#options.onHealth?.(name);
  }

  async close(): Promise<void> {
    for (const name of this.#drivers.keys()) this.#end(name);
    this.#drivers.clear();
    await this.#tasks.stop();
  }
}

function reported({
  device,
  health,
  message,
  healthCheckTimeoutSeconds,
}: {
  readonly device: { readonly poolName: string; readonly deviceName: string } | null;
  readonly health: number;
  readonly message: string;
  readonly healthCheckTimeoutSeconds: string;
}): ReportedDevice {
  return {
    pool: device?.poolName ?? "",
    device: device?.deviceName ?? "",
    health: HEALTH[health as keyof typeof HEALTH] ?? "Unknown",
    message,
    timeoutMs: Math.max(0, Number(healthCheckTimeoutSeconds)) * 1000,
  };
}
