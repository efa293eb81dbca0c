/**
 * Snapshots of several volumes at one moment.
 *
 * 1. The group's record makes it exist: snapshots that name a group without a record are leftovers, which the next
 *    start removes.
 */
import { GrpcError } from "#grpc";
import { GroupControllerRpc } from "../../csi/enums.ts";
import type { CsiHandlers } from "../../csi/services.ts";
import { groupMessage } from "../rules/messages.ts";
import type { GroupRecord, SnapshotRecord } from "../rules/records.ts";
import { invalid, needed, neededList, refuseKeys } from "../rules/requests.ts";
import { type DriverContext, named, volumeOf } from "./context.ts";
import { copyForSnapshots, removeSnapshot, snapshotDraft } from "./snapshots.ts";

export function groupService(context: DriverContext): CsiHandlers<"GroupController"> {
  const { catalog, busy, newId, clock } = context;
  return {
    GroupControllerGetCapabilities: async () => ({
      capabilities: [{ rpc: { type: GroupControllerRpc.CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT } }],
    }),
    async CreateVolumeGroupSnapshot({ name, sourceVolumeIds, parameters }, { signal }) {
      needed(name, "name");
      const volumeIds = [...new Set(neededList(sourceVolumeIds, "source_volume_ids"))].sort();
      refuseKeys(parameters, "parameters");
      return busy.hold([`group ${name}`, ...volumeIds], async () => {
        const existing = named(catalog.groups, name);
        if (existing !== undefined) {
          if (existing.volumeIds.join() !== volumeIds.join())
            throw new GrpcError(
              "ALREADY_EXISTS",
              `group snapshot ${name} is of volumes ${existing.volumeIds.join(", ")}`,
            );
          return { groupSnapshot: groupMessage(existing, membersOf(context, existing)) };
        }
        const volumes = volumeIds.map((id) => volumeOf(context, id));
        const [node = "", ...others] = new Set(volumes.map((volume) => volume.node));
        if (others.length > 0)
          throw new GrpcError(
            "FAILED_PRECONDITION",
            `the volumes are on several nodes: ${[node, ...others].join(", ")}`,
          );
        const id = `group-${newId()}`;
        const createdMs = clock.now();
        const drafts = volumes.map((volume, at) => ({
          ...snapshotDraft(context, volume, `${id}/${at}`),
          createdMs,
          groupId: id,
        }));
        await copyForSnapshots(context, node, drafts, signal);
        for (const draft of drafts) await catalog.put("snapshots", draft);
        const snapshotIds = drafts.map((draft) => draft.id);
        const group = { id, seq: catalog.nextSeq(), name, node, createdMs, volumeIds, snapshotIds };
        return { groupSnapshot: groupMessage(await catalog.put("groups", group), drafts) };
      });
    },
    async DeleteVolumeGroupSnapshot({ groupSnapshotId, snapshotIds }) {
      needed(groupSnapshotId, "group_snapshot_id");
      return busy.hold([groupSnapshotId], async () => {
        const group = catalog.groups.get(groupSnapshotId);
        if (group === undefined) return {};
        checkMembers(group, snapshotIds);
        const members = membersOf(context, group);
        await catalog.remove("groups", groupSnapshotId);
        for (const snapshot of members) await removeSnapshot(context, snapshot);
        return {};
      });
    },
    async GetVolumeGroupSnapshot({ groupSnapshotId, snapshotIds }) {
      const group = catalog.groups.get(needed(groupSnapshotId, "group_snapshot_id"));
      if (group === undefined) throw new GrpcError("NOT_FOUND", `group snapshot ${groupSnapshotId} does not exist`);
      checkMembers(group, snapshotIds);
      return { groupSnapshot: groupMessage(group, membersOf(context, group)) };
    },
  };
}

/** A caller may leave them out. */
function checkMembers({ id, snapshotIds }: GroupRecord, named: readonly string[]): void {
  if (named.length > 0 && [...named].sort().join() !== [...snapshotIds].sort().join())
    throw invalid(`snapshot_ids are not the snapshots of group snapshot ${id}`);
}

function membersOf({ catalog }: DriverContext, { snapshotIds }: GroupRecord): SnapshotRecord[] {
  return snapshotIds.map((id) => catalog.snapshots.get(id)).filter((found) => found !== undefined);
}
