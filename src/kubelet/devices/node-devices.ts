/** A node's side of devices, put together: drivers and plugins register, and Pods get their devices. */
import { join } from "node:path";
import type { core, Features } from "#api";
import { type Clock, isAbort, type Logger, type MetricsRegistry } from "#base";
import { DEVICE_PLUGIN, DRA_PLUGIN } from "#devices";
import {
  DevicePlugins,
  devicePluginMetrics,
  type HeldDevice,
  serveDeviceRegistration,
} from "../device-plugins/index.ts";
import type { PodObjects } from "../objects/index.ts";
import type { PluginHandler } from "../plugins/index.ts";
import { type PodCalls, unrecorded } from "../runtime/recorded.ts";
import type { Runtime, RuntimeVersion } from "../runtime/runtime.ts";
import type { HintProvider } from "../topology/index.ts";
import { needsCdiOfItsOwn, withCdi } from "./cdi.ts";
import { type ClaimedDevices, claimedDevices } from "./claimed-devices.ts";
import { DraDrivers } from "./dra-drivers.ts";
import { draMetrics } from "./dra-metrics.ts";
import { withMountedDevices } from "./mounted-devices.ts";
import { type PodDevices, podDevices } from "./pod-devices.ts";
import { PreparedClaims } from "./prepared-claims.ts";

export interface NodeDevicesOptions {
  /** The kubelet's folder; undefined for a node without a disk. */
  readonly dir: string | undefined;
  readonly features: Features;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
  /** The Node's status is to be written soon. */
  readonly onAmounts: () => void;
  /** The health of devices of these Pods has changed. */
  readonly onHealth: (podUids: readonly string[]) => void;
  /** The running containers of a Pod whose sandbox runs. */
  readonly running: (podUid: string) => Promise<ReadonlySet<string> | undefined>;
}

export interface NodeDevices {
  /** For the plugin registry, by the type that plugins name. */
  readonly handlers: ReadonlyMap<string, PluginHandler>;
  /** For the topology manager. */
  readonly hints: HintProvider;
  /** Extended resources of device plugins. */
  amounts(): { readonly capacity: Amounts; readonly allocatable: Amounts };
  /** The amounts of resources that are of no device plugin. */
  othersOf(amounts: Amounts): Amounts;
  onNode(node: core.Node): void;
  /** The runtime, with CDI if it does not know it, and with device files that are mounted if it makes none. */
  runtime(runtime: Runtime, version: RuntimeVersion, isInUserNamespace?: boolean): Runtime;
  /** A function, because objects are watched by what uses it. */
  ofPods(objects: Pick<PodObjects, "resourceClaim">, callsOf?: (podUid: string) => PodCalls): PodDevices;
  healthyDevices(): readonly HeldDevice[];
  /** Takes registrations of device plugins until the signal aborts. */
  serve(signal: AbortSignal): Promise<void>;
  /** Gives back what Pods have that are gone, until the signal aborts. `exists`: whether the node has the Pod. */
  run(exists: (podUid: string) => boolean, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

type Amounts = Readonly<Record<string, string>>;

/** reconcilePeriod of the kubelet. */
const RECONCILE_MS = 60_000;
const LOOK_MS = 10_000;

export async function nodeDevices(options: NodeDevicesOptions): Promise<NodeDevices> {
  const { dir, features, clock, log, metrics, onHealth } = options;
  const claims = await PreparedClaims.open(dir);
  const isHealthWanted = features.enabled("ResourceHealthStatus");
  const ofDra = draMetrics(metrics, clock, () => claims.byDriver());
  const affected = (driver?: string) =>
    claims.list().filter(({ drivers }) => driver === undefined || Object.hasOwn(drivers, driver));
  const drivers = new DraDrivers({
    clock,
    log,
    metrics: ofDra,
    watchesHealth: isHealthWanted,
    onHealth: (driver) => onHealth(affected(driver).flatMap(({ podUids }) => podUids)),
  });
  let callsOf: (podUid: string) => PodCalls = () => unrecorded;
  const pluginDir = dir === undefined ? undefined : join(dir, "device-plugins");
  const plugins = await DevicePlugins.open({
    ...options,
    dir: pluginDir,
    metrics: devicePluginMetrics(metrics),
    callsOf: (uid) => callsOf(uid),
  });
  let claimed: ClaimedDevices | undefined;
  const givenBack = async (exists: (podUid: string) => boolean, signal: AbortSignal) => {
    for (const uid of claimed?.users() ?? []) {
      if (exists(uid)) continue;
      try {
        await claimed?.release(uid, signal);
      } catch (error) {
        if (isAbort(error, signal)) throw error;
        log.warn("devices of a Pod that is gone could not be given back yet", { pod: uid, error });
      }
    }
  };
  return {
    handlers: new Map<string, PluginHandler>([
      ...(features.enabled("DynamicResourceAllocation") ? [[DRA_PLUGIN, drivers] as const] : []),
      [DEVICE_PLUGIN, plugins],
    ]),
    hints: plugins,
    amounts: () => plugins.amounts(),
    othersOf: (amounts) => Object.fromEntries(Object.entries(amounts).filter(([resource]) => !plugins.owns(resource))),
    onNode: ({ status }) => plugins.reported(status?.capacity ?? {}),
    runtime: (runtime, version, isInUserNamespace = false) => {
      if (isInUserNamespace) return withCdi(withMountedDevices(runtime));
      return needsCdiOfItsOwn(version) ? withCdi(runtime) : runtime;
    },
    ofPods(objects, calls = callsOf) {
      callsOf = calls;
      claimed = claimedDevices({ objects, driver: (name) => drivers.get(name), claims, callsOf, metrics: ofDra });
      const health = isHealthWanted ? drivers.health : undefined;
      return podDevices({ claimed, plugins, health, withMessages: features.enabled("ResourceHealthStatusMessage") });
    },
    healthyDevices: () => plugins.healthyDevices(),
    async serve(signal) {
      if (pluginDir !== undefined) await serveDeviceRegistration({ dir: pluginDir, plugins, clock, log }, signal);
    },
    async run(exists, signal) {
      await plugins.begin(exists);
      for (let dueMs = clock.monotonic() + RECONCILE_MS; ; ) {
        await clock.sleep(LOOK_MS, signal);
        if (drivers.health.hasExpired()) onHealth(affected().flatMap(({ podUids }) => podUids));
        if (clock.monotonic() < dueMs) continue;
        dueMs = clock.monotonic() + RECONCILE_MS;
        await givenBack(exists, signal);
      }
    },
    async close() {
      await drivers.close();
      await plugins.close();
    },
  };
}
