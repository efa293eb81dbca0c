/**
 * The device plugins of a node: they register, list their devices, and are asked when containers get them.
 *
 *     plugin ──► kubelet.sock, plugins_registry ──► connection ──► ListAndWatch --► KnownDevices ──► Node status
 *     Pod admitted ──► chooseDevices ──► Allocate ══► checkpoint ──► run options of the container
 *
 * 1. A device belongs to one container, apart from init containers that have ended before the next one starts.
 * 2. What is allocated is in the checkpoint before a container starts, and stays until the Pod has ended.
 * 3. Nothing new is allocated before the Pods of an earlier kubelet are known: their devices are not free.
 * 4. A resource's allocations are one after the other; a plugin that hangs holds up no other resource.
 */
import { type core, isExtendedResource } from "#api";
import { type Clock, KeyedLock, type Logger } from "#base";
import { containerResponseCodec, DEVICE_PLUGIN_VERSION } from "#devices";
import { messageOf } from "../containers/index.ts";
import type { Plugin, PluginHandler } from "../plugins/index.ts";
import { type PodCalls, unrecorded } from "../runtime/recorded.ts";
import type { HintProvider, TopologyHint } from "../topology/index.ts";
import { Allocations, byNumaNode, idsOf } from "./allocations.ts";
import { CheckpointFile } from "./checkpoint.ts";
import { chooseDevices } from "./choose-devices.ts";
import { deviceHints } from "./device-hints.ts";
import { type DevicePluginMetrics, unmeasured } from "./device-plugin-metrics.ts";
import { type Amounts, KnownDevices, type PluginDevice } from "./known-devices.ts";
import { called } from "./plugin-call.ts";
import type { PluginOptions } from "./plugin-connection.ts";
import { PluginSet } from "./plugin-set.ts";
import { removeSockets } from "./remove-sockets.ts";
import { reusableDevices } from "./reusable-devices.ts";
import { type RunOptions, runOptions } from "./run-options.ts";
import { wantedByPod, wantedDevices } from "./wanted-devices.ts";

export interface DevicePluginsOptions {
  /** The folder of device plugins; undefined for a node without a disk. */
  readonly dir: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics?: DevicePluginMetrics | undefined;
  /** The NUMA nodes of the machine. */
  readonly numaNodes?: readonly number[] | undefined;
  /** Capacity or allocatable have changed. */
  readonly onAmounts?: () => void;
  /** The health of devices of these Pods has changed. */
  readonly onHealth?: (podUids: readonly string[]) => void;
  /** The running containers of a Pod whose sandbox runs: an earlier kubelet has started it. */
  readonly running?: (podUid: string) => Promise<ReadonlySet<string> | undefined>;
  readonly callsOf?: (podUid: string) => PodCalls;
}

export interface HeldDevice {
  readonly resource: string;
  readonly id: string;
  readonly numaNodes: readonly number[];
}

export class DevicePlugins implements HintProvider, PluginHandler {
  readonly name = "devices";
  readonly #options: DevicePluginsOptions;
  readonly #file: CheckpointFile | undefined;
  readonly #known = new KnownDevices();
  readonly #allocations = new Allocations();
  readonly #plugins: PluginSet;
  readonly #lock = new KeyedLock();
  readonly #codec = containerResponseCodec();
  readonly #ready = Promise.withResolvers<void>();
  readonly #metrics: DevicePluginMetrics;
  #hasFile = false;

  private constructor(options: DevicePluginsOptions) {
    this.#options = options;
    this.#metrics = options.metrics ?? unmeasured;
    this.#plugins = new PluginSet({
      ...options,
      onBegin: (resource) => this.#known.begun(resource),
      onList: (resource, devices) => this.#listed(resource, devices),
      onGone: (resource) => this.#gone(resource),
    });
    this.#file = options.dir === undefined ? undefined : new CheckpointFile(options.dir);
  }

  /** A checkpoint that cannot be read is reported and left behind, as upstream does: Pods go on. */
  static async open(options: DevicePluginsOptions): Promise<DevicePlugins> {
    const plugins = new DevicePlugins(options);
    if (options.dir === undefined) return plugins;
    try {
      const { entries = [], registered = new Map() } = (await plugins.#file?.read()) ?? {};
      for (const entry of entries) plugins.#allocations.set(entry);
      plugins.#known.remember([...registered.keys()], options.clock.monotonic());
    } catch (error) {
      options.log.error("the checkpoint of device plugins cannot be read: who has which device is not known", {
        error,
      });
    }
    await removeSockets(options.dir);
    return plugins;
  }

  /** The Pods of an earlier kubelet are known; `exists`: whether the node still has a Pod. */
  async begin(exists: (podUid: string) => boolean): Promise<void> {
    for (const uid of this.#allocations.podUids()) if (!exists(uid)) this.#allocations.delete(uid);
    await this.#save();
    this.#ready.resolve();
  }

  /** Registration by the plugin watcher. */
  async register({ name, endpoint, versions }: Plugin, signal: AbortSignal): Promise<void> {
    if (!versions.includes(DEVICE_PLUGIN_VERSION))
      throw new Error(
        `manager version, ${DEVICE_PLUGIN_VERSION}, is not among plugin supported versions [${versions.join(" ")}]`,
      );
    if (!isExtendedResource(name))
      throw new Error(`invalid name of device plugin socket: the ResourceName "${name}" is invalid`);
    await this.connect(name, endpoint, undefined, signal);
  }

  async deregister(name: string): Promise<void> {
    this.#plugins.remove(name);
  }

  /** Takes the place of an earlier plugin of the resource. `given`: undefined: the plugin is asked for its options. */
  async connect(
    resource: string,
    endpoint: string,
    given: PluginOptions | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    this.#metrics.registered(resource);
    await this.#plugins.connect(resource, endpoint, given, signal);
  }

  #gone(resource: string): void {
    const ids = [...this.#known.devices(resource).keys()];
    this.#known.stopped(resource, this.#options.clock.monotonic());
    this.#changed(resource, ids);
  }

  #listed(resource: string, devices: readonly PluginDevice[]): void {
    const changed = this.#known.set(resource, devices);
    this.#saveSoon();
    this.#changed(resource, changed);
  }

  #changed(resource: string, ids: readonly string[]): void {
    this.#options.onAmounts?.();
    const holders = this.#allocations
      .list()
      .filter((entry) => entry.resource === resource && idsOf(entry).some((id) => ids.includes(id)));
    if (holders.length > 0) this.#options.onHealth?.([...new Set(holders.map(({ podUid }) => podUid))]);
  }

  /** Of resources that are, or were, of plugins. */
  amounts(): Amounts {
    if (this.#known.expire(this.#options.clock.monotonic())) this.#saveSoon();
    return this.#known.amounts();
  }

  /** The Node's status has been read or written. */
  reported(capacity: Readonly<Record<string, string>>): void {
    this.#known.reported(capacity);
  }

  owns(resource: string): boolean {
    return this.#known.has(resource) || this.#allocations.inUse(resource).size > 0;
  }

  #wanted(pod: core.Pod, container: core.Container): ReadonlyMap<string, number> {
    return wantedDevices(pod, container, (resource) => this.owns(resource));
  }

  hintsForContainer(pod: core.Pod, container: core.Container): ReadonlyMap<string, readonly TopologyHint[]> {
    return new Map([...this.#wanted(pod, container)].flatMap((each) => this.#hints(pod, container.name, ...each)));
  }

  hintsForPod(pod: core.Pod): ReadonlyMap<string, readonly TopologyHint[]> {
    const wanted = wantedByPod(pod, (resource) => this.owns(resource));
    return new Map([...wanted].flatMap((each) => this.#hints(pod, undefined, ...each)));
  }

  /** `container`: undefined for the whole Pod. */
  #hints(pod: core.Pod, container: string | undefined, resource: string, needed: number) {
    const { uid = "" } = pod.metadata;
    const devices = this.#known.devices(resource);
    const numaNodes = this.#options.numaNodes ?? [...new Set([...devices.values()].flatMap((each) => each.numaNodes))];
    const own = (container === undefined ? this.#allocations.containers(uid) : [container]).flatMap((name) => {
      const allocation = this.#allocations.get(uid, name, resource);
      return allocation === undefined ? [] : idsOf(allocation);
    });
    const question = { needed, devices, numaNodes };
    if (own.length > 0) {
      const isWhole = new Set(own).size === needed;
      const hints = isWhole ? deviceHints({ ...question, available: new Set(own), reusable: new Set() }) : [];
      return hints === undefined ? [] : [[resource, hints] as const];
    }
    const inUse = this.#allocations.inUse(resource);
    const available = new Set([...this.#known.healthy(resource)].filter((id) => !inUse.has(id)));
    const reusable = container === undefined ? new Set<string>() : this.#reusable(pod, container, resource);
    const hints = deviceHints({ ...question, available, reusable });
    return hints === undefined ? [] : [[resource, hints] as const];
  }

  #reusable(pod: core.Pod, container: string, resource: string): ReadonlySet<string> {
    const devicesOf = (name: string) => {
      const allocation = this.#allocations.get(pod.metadata.uid ?? "", name, resource);
      return allocation === undefined ? [] : idsOf(allocation);
    };
    return reusableDevices(pod, container, devicesOf);
  }

  async allocate(pod: core.Pod, container: core.Container, affinity: TopologyHint): Promise<string | undefined> {
    try {
      for (const [resource, count] of this.#wanted(pod, container))
        await this.#lock.run(resource, () => this.#allocate(pod, container.name, resource, count, affinity));
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  async #allocate(
    pod: core.Pod,
    container: string,
    resource: string,
    count: number,
    { affinity }: TopologyHint,
  ): Promise<void> {
    const { uid = "" } = pod.metadata;
    const { clock, running, callsOf = () => unrecorded } = this.#options;
    const known = this.#allocations.get(uid, container, resource);
    const own = known === undefined ? [] : idsOf(known);
    if (known !== undefined && own.length !== count)
      throw new Error(
        `pod "${uid}" container "${container}" changed request for resource "${resource}" from ${own.length} to ${count}`,
      );
    // A Pod that an earlier kubelet has started keeps its devices, whether their plugins are there again or not.
    const alive = await running?.(uid);
    if (alive !== undefined && (known !== undefined || alive.has(container))) return;
    if (!this.#known.has(resource)) throw new Error(`cannot allocate unregistered device ${resource}`);
    const healthy = this.#known.healthy(resource);
    if (healthy.size === 0)
      throw new Error(`no healthy devices present; cannot allocate unhealthy devices ${resource}`);
    if (own.some((id) => !healthy.has(id)))
      throw new Error(
        `previously allocated devices are no longer healthy; cannot allocate unhealthy devices ${resource}`,
      );
    if (known !== undefined) return;
    await this.#ready.promise;
    const plugin = this.#plugins.get(resource);
    if (plugin === undefined) throw new Error(`unknown Device Plugin ${resource}`);
    const devices = this.#known.devices(resource);
    const ids = await chooseDevices({
      resource,
      needed: count,
      devices,
      healthy,
      inUse: this.#allocations.inUse(resource),
      reusable: this.#reusable(pod, container, resource),
      affinity,
      prefer: (available, chosen, size) =>
        called("GetPreferredAllocation", () => plugin.preferred(available, chosen, size)),
    });
    const startMs = clock.monotonic();
    const work = () => called("Allocate", () => plugin.allocate(ids));
    const response = await callsOf(uid)
      .record("devices", `Allocate ${resource}: ${ids.join(", ")}`, work)
      .finally(() => this.#metrics.allocated(resource, (clock.monotonic() - startMs) / 1000));
    const onNode = byNumaNode(ids, devices);
    this.#allocations.set({
      podUid: uid,
      container,
      resource,
      devices: onNode,
      response: this.#codec.encode(response),
    });
    await this.#save();
  }

  /** What the container gets; its plugins are told that it starts. Throws if one of them does not agree. */
  async runOptions(pod: core.Pod, container: core.Container): Promise<RunOptions> {
    const { uid = "" } = pod.metadata;
    const { callsOf = () => unrecorded } = this.#options;
    for (const [resource, count] of this.#wanted(pod, container)) {
      // A plugin that has registered after the Pod was admitted.
      if (this.#allocations.get(uid, container.name, resource) === undefined)
        await this.#lock.run(resource, () => this.#allocate(pod, container.name, resource, count, ANYWHERE));
      const plugin = this.#plugins.get(resource);
      const allocation = this.#allocations.get(uid, container.name, resource);
      if (plugin?.options.preStartRequired !== true || allocation === undefined) continue;
      const work = () => called("PreStartContainer", () => plugin.preStart(idsOf(allocation)));
      await callsOf(uid).record("devices", `PreStartContainer ${container.name}`, work);
    }
    const allocations = [...this.#allocations.ofContainer(uid, container.name).values()];
    return runOptions(allocations.map(({ response }) => this.#codec.decode(response)));
  }

  /** For `allocatedResourcesStatus`. */
  health(podUid: string, container: string): readonly core.ResourceStatus[] {
    return [...this.#allocations.ofContainer(podUid, container)].map(([resource, allocation]) => ({
      name: resource,
      resources: idsOf(allocation).map((id) => ({ resourceID: id, health: this.#known.health(resource, id) })),
    }));
  }

  held(podUid: string, container: string): readonly HeldDevice[] {
    return [...this.#allocations.ofContainer(podUid, container)].flatMap(([resource, { devices }]) =>
      [...new Set([...devices.values()].flat())].map((id) => ({
        resource,
        id,
        numaNodes: [...devices].filter(([node, ids]) => node >= 0 && ids.includes(id)).map(([node]) => node),
      })),
    );
  }

  /** All that are healthy. */
  healthyDevices(): readonly HeldDevice[] {
    return this.#known.names().flatMap((resource) => {
      const devices = [...this.#known.devices(resource).values()].filter(({ isHealthy }) => isHealthy);
      return devices.map(({ id, numaNodes }) => ({ resource, id, numaNodes }));
    });
  }

  users(): ReadonlySet<string> {
    return this.#allocations.podUids();
  }

  release(podUid: string): void {
    if (this.#allocations.delete(podUid)) this.#saveSoon();
  }

  /** Where nobody waits for it: the next write has it, too. */
  #saveSoon(): void {
    this.#save().catch((error: unknown) =>
      this.#options.log.error("the checkpoint of device plugins could not be written", { error }),
    );
  }

  async #save(): Promise<void> {
    const registered = new Map(this.#known.names().map((name) => [name, [...this.#known.healthy(name)].sort()]));
    // A node that never had a device plugin has no such file.
    this.#hasFile ||= registered.size > 0 || this.#allocations.podUids().size > 0;
    if (!this.#hasFile) return;
    await this.#file?.write({ entries: this.#allocations.list(), registered });
  }

  async close(): Promise<void> {
    await this.#plugins.close();
  }
}

export const ANYWHERE: TopologyHint = { affinity: undefined, preferred: true };
