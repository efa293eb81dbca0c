/**
 * The driver for simulated nodes, in process and without timers: the services of the real one, on machines in memory.
 *
 *     controller ──► one for all nodes: a volume is made where its topology asks for it
 *     node(name) ──► that node's stage, publish, …
 *
 * 1. Requests and responses take the protocol's own path through bytes: callers cannot tell it from a socket.
 */
import type { Clock } from "#base";
import type { CsiDriver } from "../../csi/client.ts";
import { inProcessDriver } from "../../csi/in-process.ts";
import { Catalog } from "../catalog/catalog.ts";
import { Busy } from "../rules/busy.ts";
import type { GroupRecord, SnapshotRecord, VolumeRecord } from "../rules/records.ts";
import { type DriverContext, snapshotImage, volumeImage } from "../services/context.ts";
import { controllerServices, nodeService } from "../services/driver.ts";
import { MemoryMachine } from "./memory-machine.ts";

export interface MemoryStorageOptions {
  readonly version: string;
  readonly clock: Clock;
  readonly newId: () => string;
  /** The nodes that volumes can be made on. */
  readonly nodes: () => readonly string[];
  /** The disk of each node. Default: 1 TiB. */
  readonly nodeBytes?: number | undefined;
}

export interface MemoryStorage {
  /** Identity, Controller and GroupController. */
  readonly controller: CsiDriver;
  /** Identity and Node. */
  node(name: string): CsiDriver;
  /** What an earlier process has made is there again, blank. What is known already stays as it is. */
  adopt(volume: KnownVolume): Promise<void>;
  adoptSnapshot(snapshot: KnownSnapshot): Promise<void>;
  /** Its snapshots are adopted on their own. */
  adoptGroup(group: Omit<GroupRecord, "seq">): Promise<void>;
  /** What is attached and mounted on a node. */
  machine(node: string): MemoryMachine;
}

export type KnownVolume = Pick<VolumeRecord, "id" | "name" | "node" | "bytes">;
export type KnownSnapshot = KnownVolume & Pick<SnapshotRecord, "volumeId" | "createdMs" | "groupId">;

const TIB = 1024 ** 4;

export function memoryStorage(options: MemoryStorageOptions): MemoryStorage {
  const { version, clock, newId, nodes, nodeBytes = TIB } = options;
  const machines = new Map<string, MemoryMachine>();
  const machine = (node: string) => {
    const found = machines.get(node) ?? new MemoryMachine(nodeBytes);
    machines.set(node, found);
    return found;
  };
  const context: DriverContext = {
    version,
    clock,
    newId,
    nodes,
    machineOf: machine,
    catalog: Catalog.inMemory(),
    busy: new Busy(),
    reserved: new Map(),
  };
  const services = controllerServices(context);
  return {
    controller: inProcessDriver("memory:", services),
    node: (name) =>
      inProcessDriver(`memory:${name}`, { Identity: services.Identity, Node: nodeService(context, name) }),
    async adopt({ id, name, node, bytes }) {
      const { catalog } = context;
      if (catalog.volumes.has(id)) return;
      await machine(node).images.allocate(volumeImage(id), bytes);
      await catalog.put("volumes", { id, seq: catalog.nextSeq(), name, node, bytes, isBlank: true });
    },
    async adoptSnapshot(snapshot) {
      const { catalog } = context;
      const { id, node, bytes } = snapshot;
      if (catalog.snapshots.has(id)) return;
      await machine(node).images.allocate(snapshotImage(id), bytes);
      await catalog.put("snapshots", { ...snapshot, seq: catalog.nextSeq(), isBlank: true });
    },
    async adoptGroup(group) {
      const { catalog } = context;
      if (!catalog.groups.has(group.id)) await catalog.put("groups", { ...group, seq: catalog.nextSeq() });
    },
    machine,
  };
}
