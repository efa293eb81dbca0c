/**
 * A driver as its sidecars use it: reached on the right node, within a timeout, and known by what it is able to do.
 *
 * 1. What a driver is able to do is asked once for each of its controllers, and again after the controllers changed.
 * 2. A controller that is away fails like a call to it: with UNAVAILABLE.
 */
import { GrpcError } from "#grpc";
import { ControllerRpc, type CsiCallOptions, type CsiDriver, PluginService, VolumeExpansion } from "../../csi/index.ts";
import type { DriverControllers } from "../driver-controllers.ts";

export interface Abilities {
  readonly topology: boolean;
  readonly createDelete: boolean;
  readonly clone: boolean;
  readonly snapshot: boolean;
  readonly publish: boolean;
  readonly publishReadOnly: boolean;
  readonly singleNodeMultiWriter: boolean;
  readonly capacity: boolean;
  readonly expand: boolean;
  readonly expandOffline: boolean;
  readonly expandOnline: boolean;
  readonly modify: boolean;
  readonly listPublished: boolean;
  readonly listConditions: boolean;
  readonly getConditions: boolean;
}

export class DriverAccess {
  readonly #controllers: DriverControllers;
  readonly #timeoutMs: number;
  #known = new WeakMap<CsiDriver, Promise<Abilities>>();

  constructor(controllers: DriverControllers, timeoutMs: number) {
    this.#controllers = controllers;
    this.#timeoutMs = timeoutMs;
  }

  get name(): string {
    return this.#controllers.driverName;
  }

  get nodeTopologyKey(): string | undefined {
    return this.#controllers.nodeTopologyKey;
  }

  /** Undefined if there is one controller for all nodes. */
  nodes(): readonly string[] | undefined {
    return this.#controllers.nodes();
  }

  /** `node`: where the volume is or shall be. */
  at(node: string | undefined): CsiDriver {
    const driver = this.#controllers.of(node);
    if (driver !== undefined) return driver;
    const where = node === undefined ? "" : ` on node ${node}`;
    throw new GrpcError("UNAVAILABLE", `the controller of CSI driver ${this.name}${where} is not reachable`);
  }

  /** Any controller: for questions whose answer does not depend on the node. */
  any(): CsiDriver {
    const nodes = this.#controllers.nodes();
    return this.at(nodes?.find((node) => this.#controllers.of(node) !== undefined));
  }

  limits(signal: AbortSignal): CsiCallOptions {
    return { timeoutMs: this.#timeoutMs, signal };
  }

  abilities(driver: CsiDriver, signal: AbortSignal): Promise<Abilities> {
    let known = this.#known.get(driver);
    if (known === undefined) {
      known = askAbilities(driver, this.limits(signal));
      this.#known.set(driver, known);
      known.catch(() => this.#known.delete(driver));
    }
    return known;
  }

  /** Calls `listener` when controllers come and go. Ends with the signal. */
  async follow(signal: AbortSignal, listener: () => void): Promise<void> {
    const leave = this.#controllers.onChange(() => {
      this.#known = new WeakMap();
      listener();
    });
    if (!signal.aborted)
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    leave();
  }
}

async function askAbilities(driver: CsiDriver, limits: CsiCallOptions): Promise<Abilities> {
  const { capabilities: plugin } = await driver.Identity.GetPluginCapabilities({}, limits);
  const services = new Set(plugin.map(({ service }) => service?.type));
  const expansion = new Set(plugin.map(({ volumeExpansion }) => volumeExpansion?.type));
  const { capabilities } = services.has(PluginService.CONTROLLER_SERVICE)
    ? await driver.Controller.ControllerGetCapabilities({}, limits)
    : { capabilities: [] };
  const rpcs = new Set(capabilities.map(({ rpc }) => rpc?.type));
  return {
    topology: services.has(PluginService.VOLUME_ACCESSIBILITY_CONSTRAINTS),
    createDelete: rpcs.has(ControllerRpc.CREATE_DELETE_VOLUME),
    clone: rpcs.has(ControllerRpc.CLONE_VOLUME),
    snapshot: rpcs.has(ControllerRpc.CREATE_DELETE_SNAPSHOT),
    publish: rpcs.has(ControllerRpc.PUBLISH_UNPUBLISH_VOLUME),
    publishReadOnly: rpcs.has(ControllerRpc.PUBLISH_READONLY),
    singleNodeMultiWriter: rpcs.has(ControllerRpc.SINGLE_NODE_MULTI_WRITER),
    capacity: rpcs.has(ControllerRpc.GET_CAPACITY),
    expand: rpcs.has(ControllerRpc.EXPAND_VOLUME),
    expandOffline: expansion.has(VolumeExpansion.OFFLINE),
    expandOnline: expansion.has(VolumeExpansion.ONLINE),
    modify: rpcs.has(ControllerRpc.MODIFY_VOLUME),
    listPublished: rpcs.has(ControllerRpc.LIST_VOLUMES) && rpcs.has(ControllerRpc.LIST_VOLUMES_PUBLISHED_NODES),
    listConditions: rpcs.has(ControllerRpc.LIST_VOLUMES) && rpcs.has(ControllerRpc.VOLUME_CONDITION),
    getConditions: rpcs.has(ControllerRpc.GET_VOLUME) && rpcs.has(ControllerRpc.VOLUME_CONDITION),
  };
}
