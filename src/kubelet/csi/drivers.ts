/** The CSI drivers that have registered with this kubelet, each with its connection and what it can do. */
import type { Clock } from "#base";
import { type CsiDriver, NodeRpc, openCsiDriver } from "#storage/csi";
import type { Plugin, PluginHandler } from "../plugins/index.ts";
import { VolumeError } from "../volumes/index.ts";
import type { MeasureDriver } from "./csi-metrics.ts";
import type { CsiNodeObject } from "./csi-node.ts";

export interface NodePlugin {
  readonly node: CsiDriver["Node"];
  /** Values of NodeRpc. */
  readonly can: ReadonlySet<number>;
}

type DriversObject = Pick<CsiNodeObject, "add" | "limit" | "remove">;

/** The type that drivers name when they register. */
export const CSI_PLUGIN = "CSIPlugin";

export class CsiDrivers implements PluginHandler {
  readonly #drivers = new Map<string, NodePlugin & { readonly connection: CsiDriver }>();
  readonly #object: DriversObject;
  readonly #clock: Clock;
  readonly #measure: MeasureDriver;

  constructor(object: DriversObject, clock: Clock, measure: MeasureDriver = (_, node) => node) {
    this.#object = object;
    this.#clock = clock;
    this.#measure = measure;
  }

  get(name: string): NodePlugin {
    const found = this.#drivers.get(name);
    if (found === undefined)
      throw new VolumeError(`driver name ${name} not found in the list of registered CSI drivers`);
    return found;
  }

  async register({ name, endpoint, versions }: Plugin, signal: AbortSignal): Promise<void> {
    if (!versions.some((version) => /^v?1\./.test(version)))
      throw new Error(`driver ${name} has no version that this kubelet speaks: ${versions.join(", ")} (1.x)`);
    const connection = openCsiDriver(endpoint, { clock: this.#clock });
    try {
      const node = this.#measure(name, connection.Node);
      const { nodeId, maxVolumesPerNode, accessibleTopology } = await node.NodeGetInfo({}, { signal });
      if (nodeId === "") throw new Error(`driver ${name} has no id for this node`);
      const { capabilities } = await node.NodeGetCapabilities({}, { signal });
      const can = new Set(capabilities.map(({ rpc }) => rpc?.type ?? NodeRpc.UNKNOWN));
      const topology = accessibleTopology?.segments ?? {};
      await this.#object.add({ name, nodeId, maxVolumes: Number(maxVolumesPerNode), topology }, signal);
      this.#drivers.get(name)?.connection.close();
      this.#drivers.set(name, { node, can, connection });
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  names(): readonly string[] {
    return [...this.#drivers.keys()];
  }

  /** Asks for its limit of volumes again. */
  async refresh(name: string, signal: AbortSignal): Promise<void> {
    const { maxVolumesPerNode } = await this.get(name).node.NodeGetInfo({}, { signal });
    await this.#object.limit(name, Number(maxVolumesPerNode), signal);
  }

  async deregister(name: string, signal: AbortSignal): Promise<void> {
    this.#drivers.get(name)?.connection.close();
    this.#drivers.delete(name);
    await this.#object.remove(name, signal);
  }

  close(): void {
    for (const { connection } of this.#drivers.values()) connection.close();
    this.#drivers.clear();
  }
}
