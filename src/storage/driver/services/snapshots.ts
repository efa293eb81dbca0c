/** Snapshots of single volumes: images of their own, so that a volume may go before its snapshots. */
import { GrpcError } from "#grpc";
import type { CsiHandlers } from "../../csi/services.ts";
import { snapshotMessage } from "../rules/messages.ts";
import { pageOf } from "../rules/paging.ts";
import type { SnapshotRecord, VolumeRecord } from "../rules/records.ts";
import { invalid, needed, refuseKeys } from "../rules/requests.ts";
import { type DriverContext, named, snapshotImage, snapshotOf, volumeImage, volumeOf } from "./context.ts";
import { reserving } from "./room.ts";
import { copyWhileStill } from "./still.ts";

type Handlers = Pick<CsiHandlers<"Controller">, "CreateSnapshot" | "DeleteSnapshot" | "ListSnapshots" | "GetSnapshot">;

export function snapshotHandlers(context: DriverContext): Handlers {
  const { catalog, busy } = context;
  return {
    async CreateSnapshot({ name, sourceVolumeId, parameters }, { signal }) {
      needed(name, "name");
      needed(sourceVolumeId, "source_volume_id");
      refuseKeys(parameters, "parameters");
      return busy.hold([`snapshot ${name}`, sourceVolumeId], async () => {
        const existing = named(catalog.snapshots, name);
        if (existing !== undefined) {
          if (existing.volumeId !== sourceVolumeId)
            throw new GrpcError("ALREADY_EXISTS", `snapshot ${name} is of volume ${existing.volumeId}`);
          return { snapshot: snapshotMessage(existing) };
        }
        const volume = volumeOf(context, sourceVolumeId);
        const record = snapshotDraft(context, volume, name);
        await copyForSnapshots(context, volume.node, [record], signal);
        return { snapshot: snapshotMessage(await catalog.put("snapshots", record)) };
      });
    },
    async DeleteSnapshot({ snapshotId }) {
      needed(snapshotId, "snapshot_id");
      return busy.hold([snapshotId], async () => {
        const snapshot = catalog.snapshots.get(snapshotId);
        if (snapshot === undefined) return {};
        if (snapshot.groupId !== undefined)
          throw invalid(`snapshot ${snapshotId} is a part of group snapshot ${snapshot.groupId}, and goes with it`);
        await removeSnapshot(context, snapshot);
        return {};
      });
    },
    async ListSnapshots(request) {
      const { snapshotId, sourceVolumeId } = request;
      const listed = [...catalog.snapshots.values()].filter(
        ({ id, volumeId }) =>
          (snapshotId === "" || id === snapshotId) && (sourceVolumeId === "" || volumeId === sourceVolumeId),
      );
      const { entries, nextToken } = pageOf(listed, request);
      return { nextToken, entries: entries.map((record) => ({ snapshot: snapshotMessage(record) })) };
    },
    GetSnapshot: async ({ snapshotId }) => ({
      snapshot: snapshotMessage(snapshotOf(context, needed(snapshotId, "snapshot_id"))),
    }),
  };
}

export function snapshotDraft(context: DriverContext, volume: VolumeRecord, name: string): SnapshotRecord {
  const { id: volumeId, node, bytes, isBlank, fsType, fsBytes } = volume;
  const { catalog, clock, newId } = context;
  const of = { volumeId, node, bytes, isBlank, fsType, fsBytes };
  return { id: `snap-${newId()}`, seq: catalog.nextSeq(), name, createdMs: clock.now(), ...of };
}

/** At one moment. Removes the copies if one fails. */
export async function copyForSnapshots(
  context: DriverContext,
  node: string,
  drafts: readonly SnapshotRecord[],
  signal: AbortSignal,
): Promise<void> {
  const { images } = context.machineOf(node);
  const sizes = await Promise.all(drafts.map(({ volumeId }) => images.sizeOf(volumeImage(volumeId))));
  const allocated = sizes.reduce((sum, size) => sum + (size?.allocated ?? 0), 0);
  const copies = drafts.map(({ id, volumeId, bytes }) => ({ volumeId, to: snapshotImage(id), bytes }));
  try {
    await reserving(context, node, allocated, () => copyWhileStill(context, node, copies, signal));
  } catch (error) {
    for (const { to } of copies) await images.remove(to);
    throw error;
  }
}

export async function removeSnapshot(context: DriverContext, { id, node }: SnapshotRecord): Promise<void> {
  await context.catalog.remove("snapshots", id);
  await context.machineOf(node).images.remove(snapshotImage(id));
}
