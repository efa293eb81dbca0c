/** The driver of one node, on this machine: its records, images and devices, put in order, and its services. */
import type { Clock } from "#base";
import type { CsiImplementation } from "../csi/serve.ts";
import { Catalog } from "./catalog/catalog.ts";
import { openDiskStore } from "./catalog/disk-store.ts";
import type { RunProgram } from "./linux/command.ts";
import { linuxMachine } from "./linux/linux-machine.ts";
import type { LoopPool } from "./linux/loop-devices.ts";
import type { NodePlace } from "./linux/mounts-in-node.ts";
import { Busy } from "./rules/busy.ts";
import type { DriverContext } from "./services/context.ts";
import { controllerServices, nodeService } from "./services/driver.ts";
import { reconcile } from "./services/reconcile.ts";

export interface LocalDriverOptions {
  readonly nodeId: string;
  /** Records and images of volumes. */
  readonly stateDir: string;
  readonly version: string;
  readonly clock: Clock;
  readonly newId: () => string;
  /** What all volumes may take together. Default: what the disk has. */
  readonly capacityBytes?: number | undefined;
  /** Loop devices that are this node's alone. Default: any that are free. */
  readonly pool?: LoopPool | undefined;
  /** The node, if it has a user namespace: this process is outside of it. */
  readonly node?: NodePlace | undefined;
  /** Why Pods of the node cannot have block devices, as the end of a sentence. */
  readonly blockProblem?: string | undefined;
  /** Default: the machine's own programs. */
  readonly run?: RunProgram | undefined;
}

export async function openLocalDriver(options: LocalDriverOptions): Promise<CsiImplementation> {
  const { nodeId, stateDir, version, clock, newId, capacityBytes, pool, node, blockProblem, run } = options;
  const catalog = await Catalog.open(await openDiskStore(`${stateDir}/records`));
  const machine = await linuxMachine({ dir: stateDir, newId, clock, pool, node, blockProblem, run });
  const context: DriverContext = {
    version,
    catalog,
    clock,
    newId,
    capacityBytes,
    busy: new Busy(),
    reserved: new Map(),
    nodes: () => [nodeId],
    machineOf: () => machine,
  };
  await reconcile(context, nodeId);
  return { ...controllerServices(context), Node: nodeService(context, nodeId) };
}
