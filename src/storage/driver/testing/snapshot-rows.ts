/** What CSI asks of every driver that makes snapshots, of volumes and of groups. */
import { expect } from "vitest";
import { GroupControllerRpc } from "../../csi/enums.ts";
import { allPages, fails, type Kit, makeGroup, makeSnapshot, makeVolume, type Row, SIZE } from "./kit.ts";

async function idsOf(kit: Kit, filter: object = {}): Promise<(string | undefined)[]> {
  const { entries } = await kit.driver.Controller.ListSnapshots(filter);
  return entries.map(({ snapshot }) => snapshot?.snapshotId);
}

export const snapshotRows: readonly Row[] = [
  {
    name: "CreateSnapshot: without name or source; of an unknown volume; with an unknown parameter",
    async run(kit) {
      const create = kit.driver.Controller.CreateSnapshot;
      await fails(create({ sourceVolumeId: "a" }), "INVALID_ARGUMENT");
      await fails(create({ name: "a" }), "INVALID_ARGUMENT");
      await fails(create({ name: kit.name("a"), sourceVolumeId: "none" }), "NOT_FOUND");
      const { volumeId } = await makeVolume(kit);
      const odd = { name: kit.name("a"), sourceVolumeId: volumeId, parameters: { a: "b" } };
      await fails(create(odd), "INVALID_ARGUMENT");
    },
  },
  {
    name: "CreateSnapshot: is described; the same again is the same",
    async run(kit) {
      const { volumeId } = await makeVolume(kit);
      const made = await makeSnapshot(kit, volumeId);
      expect(made).toMatchObject({ sourceVolumeId: volumeId, readyToUse: true, sizeBytes: String(SIZE) });
      expect(Number(made.creationTime?.seconds)).toBeGreaterThan(0);
      expect(await makeSnapshot(kit, volumeId)).toEqual(made);
    },
  },
  {
    name: "CreateSnapshot: the same name of another volume",
    async run(kit) {
      const [one, other] = [await makeVolume(kit, "one"), await makeVolume(kit, "other")];
      await makeSnapshot(kit, one.volumeId);
      await fails(makeSnapshot(kit, other.volumeId), "ALREADY_EXISTS");
    },
  },
  {
    name: "CreateSnapshot: a name of 128 characters",
    async run(kit) {
      const { volumeId } = await makeVolume(kit);
      const name = kit.name("").padEnd(128, "x");
      const { snapshot } = await kit.driver.Controller.CreateSnapshot({ sourceVolumeId: volumeId, name });
      expect(snapshot?.snapshotId).not.toBe("");
    },
  },
  {
    name: "DeleteSnapshot: without an id; an unknown one; twice",
    async run(kit) {
      const remove = kit.driver.Controller.DeleteSnapshot;
      await fails(remove({}), "INVALID_ARGUMENT");
      expect(await remove({ snapshotId: "reallyfakesnapshotid" })).toEqual({});
      const { volumeId } = await makeVolume(kit);
      const { snapshotId } = await makeSnapshot(kit, volumeId);
      for (const _ of [1, 2]) expect(await remove({ snapshotId })).toEqual({});
      expect(await idsOf(kit)).not.toContain(snapshotId);
    },
  },
  {
    name: "DeleteVolume: its snapshots stay, and can be restored",
    async run(kit) {
      const { volumeId } = await makeVolume(kit);
      const { snapshotId } = await makeSnapshot(kit, volumeId);
      await kit.driver.Controller.DeleteVolume({ volumeId });
      expect(await idsOf(kit, { sourceVolumeId: volumeId })).toEqual([snapshotId]);
      await makeVolume(kit, "restored", { volumeContentSource: { snapshot: { snapshotId } } });
    },
  },
  {
    name: "ListSnapshots: by id, by source, by both, by none that exists",
    async run(kit) {
      const [one, other] = [await makeVolume(kit, "one"), await makeVolume(kit, "other")];
      const [a, b] = [await makeSnapshot(kit, one.volumeId, "a"), await makeSnapshot(kit, other.volumeId, "b")];
      expect(await idsOf(kit)).toEqual(expect.arrayContaining([a.snapshotId, b.snapshotId]));
      expect(await idsOf(kit, { snapshotId: a.snapshotId })).toEqual([a.snapshotId]);
      expect(await idsOf(kit, { sourceVolumeId: other.volumeId })).toEqual([b.snapshotId]);
      expect(await idsOf(kit, { snapshotId: a.snapshotId, sourceVolumeId: other.volumeId })).toEqual([]);
      expect(await idsOf(kit, { snapshotId: "none" })).toEqual([]);
      expect(await idsOf(kit, { sourceVolumeId: "none" })).toEqual([]);
    },
  },
  {
    name: "ListSnapshots: in pages; a token that is none",
    async run(kit) {
      const { volumeId } = await makeVolume(kit);
      for (const text of ["a", "b", "c", "d", "e"]) await makeSnapshot(kit, volumeId, text);
      const { ListSnapshots } = kit.driver.Controller;
      const page = (startingToken: string) => ListSnapshots({ sourceVolumeId: volumeId, maxEntries: 2, startingToken });
      const found = (await allPages(page, 2)).map(({ snapshot }) => snapshot?.snapshotId);
      expect(found).toHaveLength(5);
      expect(new Set(found).size).toBe(5);
      await fails(ListSnapshots({ startingToken: "none" }), "ABORTED");
    },
  },
  {
    name: "GetSnapshot: without an id; an unknown one; one that exists",
    async run(kit) {
      const get = kit.driver.Controller.GetSnapshot;
      await fails(get({}), "INVALID_ARGUMENT");
      await fails(get({ snapshotId: "none" }), "NOT_FOUND");
      const { volumeId } = await makeVolume(kit);
      const made = await makeSnapshot(kit, volumeId);
      expect((await get({ snapshotId: made.snapshotId })).snapshot).toEqual(made);
    },
  },
];

export const groupRows: readonly Row[] = [
  {
    name: "GroupControllerGetCapabilities",
    async run({ driver }) {
      const { capabilities } = await driver.GroupController.GroupControllerGetCapabilities({});
      const type = GroupControllerRpc.CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT;
      expect(capabilities).toEqual([{ rpc: { type } }]);
    },
  },
  {
    name: "CreateVolumeGroupSnapshot: without a name; without volumes; of an unknown one",
    async run(kit) {
      const create = kit.driver.GroupController.CreateVolumeGroupSnapshot;
      await fails(create({ sourceVolumeIds: ["a"] }), "INVALID_ARGUMENT");
      await fails(create({ name: "a" }), "INVALID_ARGUMENT");
      const { volumeId } = await makeVolume(kit);
      await fails(create({ name: kit.name("a"), sourceVolumeIds: [volumeId, "none"] }), "NOT_FOUND");
      expect(await idsOf(kit, { sourceVolumeId: volumeId })).toEqual([]);
    },
  },
  {
    name: "CreateVolumeGroupSnapshot: one snapshot of each volume; the same again is the same",
    async run(kit) {
      const ids = [(await makeVolume(kit, "one")).volumeId, (await makeVolume(kit, "other")).volumeId];
      const made = await makeGroup(kit, ids);
      expect(made.snapshots.map(({ sourceVolumeId }) => sourceVolumeId).sort()).toEqual([...ids].sort());
      for (const { groupSnapshotId, readyToUse } of made.snapshots)
        expect([groupSnapshotId, readyToUse]).toEqual([made.groupSnapshotId, true]);
      expect(await makeGroup(kit, ids.toReversed())).toEqual(made);
      await fails(makeGroup(kit, ids.slice(1)), "ALREADY_EXISTS");
      const { snapshotId = "" } = made.snapshots[0] ?? {};
      await makeVolume(kit, "restored", { volumeContentSource: { snapshot: { snapshotId } } });
    },
  },
  {
    name: "GetVolumeGroupSnapshot: without an id; an unknown one; one that exists; with snapshots of another",
    async run(kit) {
      const get = kit.driver.GroupController.GetVolumeGroupSnapshot;
      await fails(get({}), "INVALID_ARGUMENT");
      await fails(get({ groupSnapshotId: "none" }), "NOT_FOUND");
      const made = await makeGroup(kit, [(await makeVolume(kit)).volumeId]);
      const { groupSnapshotId } = made;
      const snapshotIds = made.snapshots.map(({ snapshotId }) => snapshotId);
      expect((await get({ groupSnapshotId, snapshotIds })).groupSnapshot).toEqual(made);
      await fails(get({ groupSnapshotId, snapshotIds: ["other"] }), "INVALID_ARGUMENT");
    },
  },
  {
    name: "DeleteVolumeGroupSnapshot: without an id; an unknown one; twice; its snapshots go with it, not before",
    async run(kit) {
      const remove = kit.driver.GroupController.DeleteVolumeGroupSnapshot;
      await fails(remove({}), "INVALID_ARGUMENT");
      expect(await remove({ groupSnapshotId: "none" })).toEqual({});
      const { volumeId } = await makeVolume(kit);
      const { groupSnapshotId, snapshots } = await makeGroup(kit, [volumeId]);
      const snapshotIds = snapshots.map(({ snapshotId }) => snapshotId);
      const [snapshotId = ""] = snapshotIds;
      await fails(kit.driver.Controller.DeleteSnapshot({ snapshotId }), "INVALID_ARGUMENT");
      await fails(remove({ groupSnapshotId, snapshotIds: ["other"] }), "INVALID_ARGUMENT");
      for (const _ of [1, 2]) expect(await remove({ groupSnapshotId, snapshotIds })).toEqual({});
      expect(await idsOf(kit, { sourceVolumeId: volumeId })).toEqual([]);
    },
  },
];
