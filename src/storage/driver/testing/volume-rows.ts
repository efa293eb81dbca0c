/** What CSI asks of every driver that makes, publishes and describes volumes. */
import { expect } from "vitest";
import { AccessMode, ControllerRpc } from "../../csi/enums.ts";
import { TOPOLOGY_KEY } from "../rules/names.ts";
import {
  allPages,
  block,
  fails,
  type Kit,
  MIB,
  makeSnapshot,
  makeVolume,
  mounting,
  publish,
  type Row,
  SIZE,
} from "./kit.ts";

const TOO_MUCH = 2 ** 52;
const volumeCapabilities = [mounting()];

async function idsOf(kit: Kit, maxEntries = 0): Promise<(string | undefined)[]> {
  const page = (startingToken: string) => kit.driver.Controller.ListVolumes({ maxEntries, startingToken });
  return (await allPages(page, maxEntries || Number.POSITIVE_INFINITY)).map(({ volume }) => volume?.volumeId);
}

export const volumeRows: readonly Row[] = [
  {
    name: "ControllerGetCapabilities: only those that the specification has, each once",
    async run({ driver }) {
      const { capabilities } = await driver.Controller.ControllerGetCapabilities({});
      const types = capabilities.map(({ rpc }) => rpc?.type ?? 0);
      expect(new Set(types).size).toBe(types.length);
      const known: readonly number[] = Object.values(ControllerRpc).filter((type) => type !== ControllerRpc.UNKNOWN);
      expect(types.filter((type) => !known.includes(type))).toEqual([]);
    },
  },
  {
    name: "CreateVolume: without a name",
    run: ({ driver }) => fails(driver.Controller.CreateVolume({ volumeCapabilities }), "INVALID_ARGUMENT"),
  },
  {
    name: "CreateVolume: without capabilities",
    run: (kit) => fails(kit.driver.Controller.CreateVolume({ name: kit.name("a") }), "INVALID_ARGUMENT"),
  },
  {
    name: "CreateVolume: a capability without access mode, without access type",
    async run(kit) {
      const create = (capability: object) =>
        kit.driver.Controller.CreateVolume({ name: kit.name("a"), volumeCapabilities: [capability] });
      await fails(create({ mount: {} }), "INVALID_ARGUMENT");
      await fails(create({ accessMode: { mode: AccessMode.SINGLE_NODE_WRITER } }), "INVALID_ARGUMENT");
    },
  },
  {
    name: "CreateVolume: access by several nodes, which the driver has not",
    async run(kit) {
      for (const mode of [AccessMode.MULTI_NODE_MULTI_WRITER, AccessMode.MULTI_NODE_READER_ONLY])
        await fails(makeVolume(kit, "a", { volumeCapabilities: [mounting(mode)] }), "INVALID_ARGUMENT");
    },
  },
  {
    name: "CreateVolume: a file system, parameter or changeable parameter that the driver has not",
    async run(kit) {
      const odd = [mounting(AccessMode.SINGLE_NODE_WRITER, "ntfs")];
      await fails(makeVolume(kit, "a", { volumeCapabilities: odd }), "INVALID_ARGUMENT");
      await fails(makeVolume(kit, "a", { parameters: { speed: "fast" } }), "INVALID_ARGUMENT");
      await fails(makeVolume(kit, "a", { mutableParameters: { speed: "fast" } }), "INVALID_ARGUMENT");
    },
  },
  {
    name: "CreateVolume: without a size; with one; both are described",
    async run(kit) {
      const one = await makeVolume(kit, "one", { capacityRange: undefined });
      expect(Number(one.capacityBytes)).toBeGreaterThan(0);
      const other = await makeVolume(kit, "other", { parameters: { "csi.storage.k8s.io/pvc/name": "data" } });
      expect(Number(other.capacityBytes)).toBe(SIZE);
      expect(other.accessibleTopology).toEqual([{ segments: { [TOPOLOGY_KEY]: kit.nodeId } }]);
      expect(one.volumeId).not.toBe(other.volumeId);
    },
  },
  {
    name: "CreateVolume: the same again is the same volume",
    async run(kit) {
      const one = await makeVolume(kit);
      expect(await makeVolume(kit)).toEqual(one);
      expect(await makeVolume(kit, "volume", { capacityRange: { limitBytes: 2 * SIZE } })).toEqual(one);
    },
  },
  {
    name: "CreateVolume: the same name with another size or source",
    async run(kit) {
      const { volumeId } = await makeVolume(kit);
      await fails(makeVolume(kit, "volume", { capacityRange: { requiredBytes: 2 * SIZE } }), "ALREADY_EXISTS");
      await fails(makeVolume(kit, "volume", { capacityRange: { limitBytes: SIZE - MIB } }), "ALREADY_EXISTS");
      const volumeContentSource = { volume: { volumeId } };
      await fails(makeVolume(kit, "volume", { volumeContentSource }), "ALREADY_EXISTS");
    },
  },
  {
    name: "CreateVolume: a name of 128 characters, and one of odd characters",
    async run(kit) {
      const long = kit.name("").padEnd(128, "x");
      expect((await makeVolume(kit, "", { name: long })).volumeId).not.toBe("");
      expect((await makeVolume(kit, "", { name: kit.name("../ü\u0000") })).volumeId).toMatch(/^[-a-z0-9]+$/);
    },
  },
  {
    name: "CreateVolume: sizes that cannot be",
    async run(kit) {
      const create = (capacityRange: object) => makeVolume(kit, "a", { capacityRange });
      await fails(create({ requiredBytes: -1 }), "INVALID_ARGUMENT");
      await fails(create({ requiredBytes: SIZE, limitBytes: MIB }), "INVALID_ARGUMENT");
      await fails(create({ limitBytes: 10 }), "OUT_OF_RANGE");
      await fails(create({ requiredBytes: SIZE + 1, limitBytes: SIZE + 1 }), "OUT_OF_RANGE");
      await fails(create({ requiredBytes: TOO_MUCH }), "OUT_OF_RANGE");
    },
  },
  {
    name: "CreateVolume: more than there is room for",
    async run(kit) {
      const { availableCapacity } = await kit.driver.Controller.GetCapacity({});
      const requiredBytes = Number(availableCapacity) + 64 * 1024 * MIB;
      await fails(makeVolume(kit, "a", { capacityRange: { requiredBytes } }), "RESOURCE_EXHAUSTED");
    },
  },
  {
    name: "CreateVolume: where topology asks for it, and only there",
    async run(kit) {
      const at = (node: string) => ({ segments: { [TOPOLOGY_KEY]: node } });
      const asked = (...nodes: string[]) => ({ accessibilityRequirements: { requisite: nodes.map(at) } });
      expect((await makeVolume(kit, "a", asked("elsewhere", kit.nodeId))).accessibleTopology).toEqual([at(kit.nodeId)]);
      await fails(makeVolume(kit, "b", asked("elsewhere")), "RESOURCE_EXHAUSTED");
    },
  },
  {
    name: "CreateVolume: from a snapshot, also a larger one, and not a smaller one",
    async run(kit) {
      const { volumeId } = await makeVolume(kit);
      const { snapshotId } = await makeSnapshot(kit, volumeId);
      const volumeContentSource = { snapshot: { snapshotId } };
      const made = await makeVolume(kit, "restored", { volumeContentSource });
      expect(made.contentSource).toEqual({ snapshot: { snapshotId }, volume: null });
      expect(await makeVolume(kit, "restored", { volumeContentSource })).toEqual(made);
      const larger = { volumeContentSource, capacityRange: { requiredBytes: 2 * SIZE } };
      expect(Number((await makeVolume(kit, "larger", larger)).capacityBytes)).toBe(2 * SIZE);
      const smaller = { volumeContentSource, capacityRange: { requiredBytes: MIB } };
      await fails(makeVolume(kit, "smaller", smaller), "OUT_OF_RANGE");
    },
  },
  {
    name: "CreateVolume: as a clone",
    async run(kit) {
      const { volumeId } = await makeVolume(kit);
      const made = await makeVolume(kit, "clone", { volumeContentSource: { volume: { volumeId } } });
      expect(made.contentSource).toEqual({ volume: { volumeId }, snapshot: null });
      expect(made.volumeId).not.toBe(volumeId);
    },
  },
  {
    name: "CreateVolume: from a source that does not exist",
    async run(kit) {
      const from = (volumeContentSource: object) => makeVolume(kit, "a", { volumeContentSource });
      await fails(from({ snapshot: { snapshotId: "none" } }), "NOT_FOUND");
      await fails(from({ volume: { volumeId: "none" } }), "NOT_FOUND");
      await fails(from({ volume: { volumeId: "" } }), "INVALID_ARGUMENT");
    },
  },
  {
    name: "CreateVolume: many calls at once for one name make one volume",
    async run(kit) {
      const calls = Array.from({ length: 8 }, () =>
        makeVolume(kit).then(
          ({ volumeId }) => volumeId,
          ({ code }) => code as string,
        ),
      );
      const said = new Set(await Promise.all(calls));
      said.delete("ABORTED");
      expect([...said]).toEqual([(await makeVolume(kit)).volumeId]);
    },
  },
  {
    name: "DeleteVolume: without an id; an unknown id; twice",
    async run(kit) {
      const { Controller } = kit.driver;
      await fails(Controller.DeleteVolume({}), "INVALID_ARGUMENT");
      expect(await Controller.DeleteVolume({ volumeId: "reallyfakevolumeid" })).toEqual({});
      const { volumeId } = await makeVolume(kit);
      for (const _ of [1, 2]) expect(await Controller.DeleteVolume({ volumeId })).toEqual({});
      expect(await idsOf(kit)).not.toContain(volumeId);
    },
  },
  {
    name: "DeleteVolume: one that is published is in use",
    async run(kit) {
      const { volumeId } = await makeVolume(kit);
      await publish(kit, volumeId);
      await fails(kit.driver.Controller.DeleteVolume({ volumeId }), "FAILED_PRECONDITION");
    },
  },
  {
    name: "ControllerPublishVolume: without volume, node or capability",
    async run({ driver, nodeId }) {
      const publishing = driver.Controller.ControllerPublishVolume;
      await fails(publishing({}), "INVALID_ARGUMENT");
      await fails(publishing({ volumeId: "a", volumeCapability: mounting() }), "INVALID_ARGUMENT");
      await fails(publishing({ volumeId: "a", nodeId }), "INVALID_ARGUMENT");
    },
  },
  {
    name: "ControllerPublishVolume: an unknown volume; an unknown node",
    async run(kit) {
      await fails(publish(kit, "none"), "NOT_FOUND");
      const { volumeId } = await makeVolume(kit);
      const elsewhere = { volumeId, nodeId: "some-fake-node-id", volumeCapability: mounting() };
      await fails(kit.driver.Controller.ControllerPublishVolume(elsewhere), "NOT_FOUND");
    },
  },
  {
    name: "ControllerPublishVolume: again is the same; otherwise than before is refused",
    async run(kit) {
      const { volumeId } = await makeVolume(kit);
      const first = await publish(kit, volumeId);
      expect(await publish(kit, volumeId)).toEqual(first);
      await fails(publish(kit, volumeId, mounting(), true), "ALREADY_EXISTS");
      const { entries } = await kit.driver.Controller.ListVolumes({});
      const listed = entries.find(({ volume }) => volume?.volumeId === volumeId);
      expect(listed?.status?.publishedNodeIds).toEqual([kit.nodeId]);
    },
  },
  {
    name: "ControllerUnpublishVolume: without an id; an unknown one; twice; from all nodes",
    async run(kit) {
      const { Controller } = kit.driver;
      await fails(Controller.ControllerUnpublishVolume({}), "INVALID_ARGUMENT");
      expect(await Controller.ControllerUnpublishVolume({ volumeId: "none" })).toEqual({});
      const { volumeId } = await makeVolume(kit);
      for (const nodeId of [kit.nodeId, ""]) {
        await publish(kit, volumeId);
        for (const _ of [1, 2]) expect(await Controller.ControllerUnpublishVolume({ volumeId, nodeId })).toEqual({});
      }
      expect(await Controller.DeleteVolume({ volumeId })).toEqual({});
    },
  },
  {
    name: "ValidateVolumeCapabilities: without id or capabilities; an unknown volume",
    async run({ driver }) {
      const validate = driver.Controller.ValidateVolumeCapabilities;
      await fails(validate({ volumeCapabilities }), "INVALID_ARGUMENT");
      await fails(validate({ volumeId: "a" }), "INVALID_ARGUMENT");
      await fails(validate({ volumeId: "none", volumeCapabilities }), "NOT_FOUND");
    },
  },
  {
    name: "ValidateVolumeCapabilities: confirms those that the volume has",
    async run(kit) {
      const { volumeId } = await makeVolume(kit);
      const validate = kit.driver.Controller.ValidateVolumeCapabilities;
      const { confirmed } = await validate({ volumeId, volumeCapabilities: [mounting(), block()] });
      expect(confirmed?.volumeCapabilities).toHaveLength(2);
      const many = [mounting(AccessMode.MULTI_NODE_MULTI_WRITER)];
      const refused = await validate({ volumeId, volumeCapabilities: many });
      expect(refused.confirmed).toBeNull();
      expect(refused.message).toContain("MULTI_NODE_MULTI_WRITER");
    },
  },
  {
    name: "ListVolumes: a token that is none; a negative number",
    async run({ driver }) {
      await fails(driver.Controller.ListVolumes({ startingToken: "invalid-token" }), "ABORTED");
      await fails(driver.Controller.ListVolumes({ maxEntries: -1 }), "INVALID_ARGUMENT");
    },
  },
  {
    name: "ListVolumes: what exists, once",
    async run(kit) {
      const { volumeId } = await makeVolume(kit);
      expect((await idsOf(kit)).filter((id) => id === volumeId)).toHaveLength(1);
      await kit.driver.Controller.DeleteVolume({ volumeId });
      expect(await idsOf(kit)).not.toContain(volumeId);
    },
  },
  {
    name: "ListVolumes: pages have all, also what is made between them, though the last of a page goes",
    async run(kit) {
      for (const text of ["a", "b", "c"]) await makeVolume(kit, text);
      const { ListVolumes, DeleteVolume } = kit.driver.Controller;
      const first = await ListVolumes({ maxEntries: 2 });
      expect(first.entries).toHaveLength(2);
      const later = await makeVolume(kit, "later");
      await DeleteVolume({ volumeId: first.entries[1]?.volume?.volumeId ?? "" });
      const rest = await allPages(
        (token) => ListVolumes({ maxEntries: 1, startingToken: token || first.nextToken }),
        1,
      );
      const ids = rest.map(({ volume }) => volume?.volumeId);
      expect(ids).toContain(later.volumeId);
      expect(new Set(ids).size).toBe(ids.length);
      expect([first.entries[0]?.volume?.volumeId, ...ids].sort()).toEqual((await idsOf(kit)).sort());
    },
  },
  {
    name: "ControllerGetVolume: without an id; an unknown one; one that exists",
    async run(kit) {
      const get = kit.driver.Controller.ControllerGetVolume;
      await fails(get({}), "INVALID_ARGUMENT");
      await fails(get({ volumeId: "none" }), "NOT_FOUND");
      const made = await makeVolume(kit);
      const { volume, status } = await get({ volumeId: made.volumeId });
      expect(volume).toEqual(made);
      expect(status).toMatchObject({ publishedNodeIds: [], volumeCondition: { abnormal: false } });
    },
  },
  {
    name: "ControllerModifyVolume: is not offered",
    run: ({ driver }) => fails(driver.Controller.ControllerModifyVolume({ volumeId: "a" }), "UNIMPLEMENTED"),
  },
  {
    name: "GetCapacity: of this node, of another one, of what the driver has not",
    async run(kit) {
      const { GetCapacity } = kit.driver.Controller;
      const at = (node: string) => ({ accessibleTopology: { segments: { [TOPOLOGY_KEY]: node } } });
      const here = await GetCapacity(at(kit.nodeId));
      expect(Number(here.availableCapacity)).toBeGreaterThan(0);
      expect(Number(here.maximumVolumeSize?.value)).toBeGreaterThan(0);
      expect(Number((await GetCapacity(at("elsewhere"))).availableCapacity)).toBe(0);
      const many = [mounting(AccessMode.MULTI_NODE_MULTI_WRITER)];
      expect(Number((await GetCapacity({ volumeCapabilities: many })).availableCapacity)).toBe(0);
    },
  },
  {
    name: "GetCapacity: what was promised is not offered again",
    async run(kit) {
      const available = async () => Number((await kit.driver.Controller.GetCapacity({})).availableCapacity);
      const before = await available();
      const promised = 2048 * MIB;
      const { volumeId } = await makeVolume(kit, "a", { capacityRange: { requiredBytes: promised } });
      // Others use the disk, too.
      expect(Math.abs(before - (await available()) - promised)).toBeLessThan(promised / 2);
      await kit.driver.Controller.DeleteVolume({ volumeId });
      expect(Math.abs(before - (await available()))).toBeLessThan(promised / 2);
    },
  },
  {
    name: "ControllerExpandVolume: without id or size; an unknown volume; too much",
    async run(kit) {
      const expand = kit.driver.Controller.ControllerExpandVolume;
      const capacityRange = { requiredBytes: 2 * SIZE };
      await fails(expand({ capacityRange }), "INVALID_ARGUMENT");
      await fails(expand({ volumeId: "a" }), "INVALID_ARGUMENT");
      await fails(expand({ volumeId: "none", capacityRange }), "NOT_FOUND");
      const { volumeId } = await makeVolume(kit);
      await fails(expand({ volumeId, capacityRange: { requiredBytes: TOO_MUCH } }), "OUT_OF_RANGE");
      expect(Number((await makeVolume(kit)).capacityBytes)).toBe(SIZE);
    },
  },
  {
    name: "ControllerExpandVolume: larger; again; never smaller",
    async run(kit) {
      const { volumeId } = await makeVolume(kit);
      const expand = async (requiredBytes: number, volumeCapability = mounting()) =>
        kit.driver.Controller.ControllerExpandVolume({ volumeId, capacityRange: { requiredBytes }, volumeCapability });
      for (const _ of [1, 2])
        expect(await expand(2 * SIZE)).toEqual({ capacityBytes: String(2 * SIZE), nodeExpansionRequired: true });
      expect(await expand(MIB)).toMatchObject({ capacityBytes: String(2 * SIZE) });
      expect(await expand(3 * SIZE, block())).toMatchObject({ nodeExpansionRequired: false });
    },
  },
];
