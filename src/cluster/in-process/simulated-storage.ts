/**
 * The drivers of simulated nodes: one in memory for each node, as real nodes have one each.
 *
 * 1. A driver remembers nothing of an earlier process; the API server does: volumes and snapshots are adopted from
 *    their objects. They are blank then.
 * 2. What is not on a node of this cluster is not adopted.
 */
import { type core, isStatusError, type KubeObject, kinds, parseQuantity, scaledValue } from "#api";
import { K8TS_VERSION } from "#apiserver";
import { type Clock, uuidSource } from "#base";
import type { Client, ResourceName } from "#client";
import type { DriverControllers, MemoryStorage, VolumeGroupSnapshotContent, VolumeSnapshotContent } from "#storage";

const NANOS_PER_MS = 1_000_000n;

export async function simulatedDrivers(
  names: readonly string[],
  { client, clock }: { readonly client: Client; readonly clock: Clock },
  signal: AbortSignal,
): Promise<DriverControllers> {
  const { DRIVER_NAME, groupKinds, memoryStorage, nodeOfVolume, onEachOf, snapshotKinds, TOPOLOGY_KEY, writtenNode } =
    await import("#storage");
  const known = new Set(names);
  const newId = uuidSource();
  const opened = new Map<string, MemoryStorage>();
  const storageOf = (node: string) => {
    const found = opened.get(node) ?? memoryStorage({ version: K8TS_VERSION, clock, newId, nodes: () => [node] });
    opened.set(node, found);
    return found;
  };
  const there = (node: string | undefined): node is string => node !== undefined && known.has(node);
  for await (const volume of client.of(kinds.PersistentVolume).each({ signal })) {
    const node = nodeOfVolume(volume, TOPOLOGY_KEY);
    if (volume.spec?.csi?.driver === DRIVER_NAME && there(node)) await adoptVolume(storageOf(node), node, volume);
  }
  for await (const content of served(client, snapshotKinds.VolumeSnapshotContent, signal)) {
    const node = writtenNode(content);
    if (content.spec.driver === DRIVER_NAME && there(node)) await adoptSnapshot(storageOf(node), node, content);
  }
  for await (const content of served(client, groupKinds.VolumeGroupSnapshotContent, signal)) {
    const node = writtenNode(content);
    if (content.spec.driver === DRIVER_NAME && there(node)) await adoptGroup(storageOf(node), node, content);
  }
  const driver = { driverName: DRIVER_NAME, nodeTopologyKey: TOPOLOGY_KEY };
  return onEachOf(driver, names, (node) => storageOf(node).controller);
}

/** Nothing if the kind is not served: the definitions of snapshots may not be there yet. */
async function* served<T extends KubeObject>(client: Client, kind: ResourceName<T>, signal: AbortSignal) {
  try {
    yield* client.of(kind).each({ signal });
  } catch (error) {
    if (!isStatusError(error, "NotFound")) throw error;
  }
}

async function adoptVolume(storage: MemoryStorage, node: string, { metadata, spec }: core.PersistentVolume) {
  const bytes = Number(scaledValue(parseQuantity(spec?.capacity?.storage ?? "0"), 0));
  await storage.adopt({ id: spec?.csi?.volumeHandle ?? "", name: metadata.name ?? "", node, bytes });
}

async function adoptSnapshot(storage: MemoryStorage, node: string, { spec, status }: VolumeSnapshotContent) {
  const { snapshotHandle: id, restoreSize = 0, creationTime = 0, volumeGroupSnapshotHandle: groupId } = status ?? {};
  if (id === undefined) return;
  await storage.adoptSnapshot({
    id,
    // The name in the call that made it: made again, it is found.
    name: groupId === undefined ? `snapshot-${spec.volumeSnapshotRef.uid}` : id,
    node,
    bytes: Number(restoreSize),
    volumeId: spec.source.volumeHandle ?? "",
    createdMs: Number(BigInt(creationTime) / NANOS_PER_MS),
    ...(groupId !== undefined && { groupId }),
  });
}

async function adoptGroup(storage: MemoryStorage, node: string, { spec, status }: VolumeGroupSnapshotContent) {
  const { volumeGroupSnapshotHandle: id, creationTime, volumeSnapshotInfoList: infos = [] } = status ?? {};
  if (id === undefined) return;
  await storage.adoptGroup({
    id,
    name: `groupsnapshot-${spec.volumeGroupSnapshotRef.uid}`,
    node,
    createdMs: creationTime === undefined ? 0 : Date.parse(creationTime),
    volumeIds: [...(spec.source.volumeHandles ?? [])].sort(),
    snapshotIds: infos.flatMap(({ snapshotHandle }) => (snapshotHandle === undefined ? [] : [snapshotHandle])),
  });
}
