/** Records as CSI's messages. Pure. */
import type { CsiSent } from "../../csi/services.ts";
import type { GroupRecord, SnapshotRecord, VolumeRecord } from "./records.ts";
import { topologyOf } from "./topology.ts";

export function volumeMessage({ id, bytes, source, node }: VolumeRecord): CsiSent<"Volume"> {
  return {
    volumeId: id,
    capacityBytes: bytes,
    accessibleTopology: [topologyOf(node)],
    ...(source?.kind === "snapshot" && { contentSource: { snapshot: { snapshotId: source.id } } }),
    ...(source?.kind === "volume" && { contentSource: { volume: { volumeId: source.id } } }),
  };
}

export function snapshotMessage(record: SnapshotRecord): CsiSent<"Snapshot"> {
  const { id, bytes, volumeId, createdMs, groupId = "" } = record;
  return {
    snapshotId: id,
    sizeBytes: bytes,
    sourceVolumeId: volumeId,
    creationTime: timestamp(createdMs),
    readyToUse: true,
    groupSnapshotId: groupId,
  };
}

export function groupMessage(
  { id, createdMs }: GroupRecord,
  snapshots: readonly SnapshotRecord[],
): CsiSent<"VolumeGroupSnapshot"> {
  return {
    groupSnapshotId: id,
    snapshots: snapshots.map(snapshotMessage),
    creationTime: timestamp(createdMs),
    readyToUse: true,
  };
}

function timestamp(ms: number): CsiSent<"google.protobuf.Timestamp"> {
  return { seconds: Math.floor(ms / 1000), nanos: Math.floor(ms % 1000) * 1e6 };
}
