/** What all services of the driver share. */
import type { Clock } from "#base";
import { GrpcError } from "#grpc";
import type { Catalog } from "../catalog/catalog.ts";
import type { Device, ImageName, Machine } from "../machine/machine.ts";
import type { Busy } from "../rules/busy.ts";
import type { SnapshotRecord, VolumeRecord } from "../rules/records.ts";

export interface DriverContext {
  readonly version: string;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly busy: Busy;
  /** Nodes whose volumes this driver makes, the best one first. */
  nodes(): readonly string[];
  machineOf(node: string): Machine;
  /** What all volumes of a node may take together. Default: what the disk has. */
  readonly capacityBytes?: number | undefined;
  /** Bytes that calls in progress are about to promise, by node. */
  readonly reserved: Map<string, number>;
}

export function volumeImage(id: string): ImageName {
  return { kind: "volumes", id };
}

export function snapshotImage(id: string): ImageName {
  return { kind: "snapshots", id };
}

export function volumeOf({ catalog }: DriverContext, id: string): VolumeRecord {
  const found = catalog.volumes.get(id);
  if (found === undefined) throw new GrpcError("NOT_FOUND", `volume ${id} does not exist`);
  return found;
}

export function snapshotOf({ catalog }: DriverContext, id: string): SnapshotRecord {
  const found = catalog.snapshots.get(id);
  if (found === undefined) throw new GrpcError("NOT_FOUND", `snapshot ${id} does not exist`);
  return found;
}

export function named<T extends { readonly name: string }>(
  records: ReadonlyMap<string, T>,
  name: string,
): T | undefined {
  return records.values().find((record) => record.name === name);
}

export async function deviceOf(machine: Machine, id: string): Promise<Device | undefined> {
  return (await machine.devices()).find(({ image }) => image?.kind === "volumes" && image.id === id);
}
