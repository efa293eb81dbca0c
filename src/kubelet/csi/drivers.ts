/** The CSI drivers that have registered with this kubelet, each with its connection and what it can do. */
import type { Clock } from "#base";
import { type CsiDriver, NodeRpc, openCsiDriver } from "#storage/csi";
import type { Plugin, PluginHandler } from "../plugins/index.ts";
import { VolumeError } from "../volumes/index.ts";
import type { CsiNodeObject } from "./csi-node.ts";

export interface NodePlugin {
  readonly node: CsiDriver["Node"];
  /** Values of NodeRpc. */
  readonly can: ReadonlySet<number>;
}

/** The type that drivers name when they register. */
export const CSI_PLUGIN = "CSIPlugin";

export class CsiDrivers implements PluginHandler {
  readonly #drivers = new Map<string, NodePlugin & { readonly connection: CsiDriver }>();
  readonly #object: Pick<CsiNodeObject, "add" | "remove">;
  readonly #clock: Clock;

  constructor(object: Pick<CsiNodeObject, "add" | "remove">, clock: Clock) {
    this.#object = object;
    this.#clock = clock;
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
      const { nodeId, maxVolumesPerNode, accessibleTopology } = await connection.Node.NodeGetInfo({}, { signal });
      if (nodeId === "") throw new Error(`driver ${name} has no id for this node`);
      const { capabilities } = await connection.Node.NodeGetCapabilities({}, { signal });
      const can = new Set(capabilities.map(({ rpc }) => rpc?.type ?? NodeRpc.UNKNOWN));
      const topology = accessibleTopology?.segments ?? {};
      await this.#object.add({ name, nodeId, maxVolumes: Number(maxVolumesPerNode), topology }, signal);
      this.#drivers.get(name)?.connection.close();
      this.#drivers.set(name, { node: connection.Node, can, connection });
    } catch (error) {
      connection.close();
      throw error;
    }
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
