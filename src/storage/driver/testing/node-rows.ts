/** What CSI asks of every driver's Node service. */
import { expect } from "vitest";
import { AccessMode, NodeRpc } from "../../csi/enums.ts";
import { EPHEMERAL, TOPOLOGY_KEY } from "../rules/names.ts";
import { block, fails, makeVolume, mounting, publish, type Row, SIZE, use } from "./kit.ts";

const needsMounts = true;
const volumeCapability = mounting();

export const nodeRows: readonly Row[] = [
  {
    name: "NodeGetCapabilities: only those that the specification has",
    async run({ driver }) {
      const { capabilities } = await driver.Node.NodeGetCapabilities({});
      const known: readonly number[] = Object.values(NodeRpc).filter((type) => type !== NodeRpc.UNKNOWN);
      expect(capabilities.filter(({ rpc }) => !known.includes(rpc?.type ?? 0))).toEqual([]);
      expect(capabilities.map(({ rpc }) => rpc?.type)).toContain(NodeRpc.STAGE_UNSTAGE_VOLUME);
    },
  },
  {
    name: "NodeGetInfo: the node's id and topology",
    async run({ driver, nodeId }) {
      const info = await driver.Node.NodeGetInfo({});
      expect(info).toMatchObject({ nodeId, accessibleTopology: { segments: { [TOPOLOGY_KEY]: nodeId } } });
      expect(Number(info.maxVolumesPerNode)).toBeGreaterThanOrEqual(0);
    },
  },
  {
    name: "NodeStageVolume: without id, path or capability; an unknown volume",
    async run(kit) {
      const stage = kit.driver.Node.NodeStageVolume;
      const stagingTargetPath = kit.path("staging");
      await fails(stage({ stagingTargetPath, volumeCapability }), "INVALID_ARGUMENT");
      await fails(stage({ volumeId: "a", volumeCapability }), "INVALID_ARGUMENT");
      await fails(stage({ volumeId: "a", stagingTargetPath }), "INVALID_ARGUMENT");
      await fails(stage({ volumeId: "none", stagingTargetPath, volumeCapability }), "NOT_FOUND");
    },
  },
  {
    name: "NodeUnstageVolume: without id or path; an unknown volume",
    async run(kit) {
      const unstage = kit.driver.Node.NodeUnstageVolume;
      const stagingTargetPath = kit.path("staging");
      await fails(unstage({ stagingTargetPath }), "INVALID_ARGUMENT");
      await fails(unstage({ volumeId: "a" }), "INVALID_ARGUMENT");
      expect(await unstage({ volumeId: "none", stagingTargetPath })).toEqual({});
    },
  },
  {
    name: "NodePublishVolume: without id, path or capability; an unknown volume; one that is not staged",
    async run(kit) {
      const put = kit.driver.Node.NodePublishVolume;
      const paths = { stagingTargetPath: kit.path("staging"), targetPath: kit.path("target") };
      await fails(put({ ...paths, volumeCapability }), "INVALID_ARGUMENT");
      await fails(put({ volumeId: "a", volumeCapability }), "INVALID_ARGUMENT");
      await fails(put({ volumeId: "a", ...paths }), "INVALID_ARGUMENT");
      await fails(put({ volumeId: "none", ...paths, volumeCapability }), "NOT_FOUND");
      const { volumeId } = await makeVolume(kit);
      await fails(put({ volumeId, ...paths, volumeCapability }), "FAILED_PRECONDITION");
    },
  },
  {
    name: "NodeUnpublishVolume: without id or path; an unknown volume",
    async run(kit) {
      const take = kit.driver.Node.NodeUnpublishVolume;
      await fails(take({ targetPath: kit.path("target") }), "INVALID_ARGUMENT");
      await fails(take({ volumeId: "a" }), "INVALID_ARGUMENT");
      expect(await take({ volumeId: "none", targetPath: kit.path("target") })).toEqual({});
    },
  },
  {
    name: "NodeGetVolumeStats: without id or path; an unknown volume; a path where it is not",
    async run(kit) {
      const stats = kit.driver.Node.NodeGetVolumeStats;
      await fails(stats({ volumePath: "/" }), "INVALID_ARGUMENT");
      await fails(stats({ volumeId: "a" }), "INVALID_ARGUMENT");
      await fails(stats({ volumeId: "none", volumePath: "/" }), "NOT_FOUND");
      const { volumeId } = await makeVolume(kit);
      await fails(stats({ volumeId, volumePath: kit.path("target") }), "NOT_FOUND");
    },
  },
  {
    name: "NodeExpandVolume: without id or path; an unknown volume; a path where it is not",
    async run(kit) {
      const expand = kit.driver.Node.NodeExpandVolume;
      await fails(expand({ volumePath: "/" }), "INVALID_ARGUMENT");
      await fails(expand({ volumeId: "a" }), "INVALID_ARGUMENT");
      await fails(expand({ volumeId: "none", volumePath: "/" }), "NOT_FOUND");
      const { volumeId } = await makeVolume(kit);
      await fails(expand({ volumeId, volumePath: kit.path("target") }), "NOT_FOUND");
    },
  },
  {
    name: "a volume's life, each step twice",
    needsMounts,
    async run(kit) {
      const { Controller, Node } = kit.driver;
      const { nodeId } = kit;
      const { volumeId } = await makeVolume(kit);
      const [stagingTargetPath, targetPath] = [kit.path("staging"), kit.path("target")];
      const twice = async (step: () => Promise<unknown>) => {
        const first = await step();
        expect(await step()).toEqual(first);
      };
      await twice(() => publish(kit, volumeId));
      await twice(() => Node.NodeStageVolume({ volumeId, stagingTargetPath, volumeCapability }));
      await twice(() => Node.NodePublishVolume({ volumeId, stagingTargetPath, targetPath, volumeCapability }));
      await fails(Controller.DeleteVolume({ volumeId }), "FAILED_PRECONDITION");
      await fails(Controller.ControllerUnpublishVolume({ volumeId, nodeId }), "FAILED_PRECONDITION");
      await twice(() => Node.NodeUnpublishVolume({ volumeId, targetPath }));
      await twice(() => Node.NodeUnstageVolume({ volumeId, stagingTargetPath }));
      await twice(() => Controller.ControllerUnpublishVolume({ volumeId, nodeId }));
      await twice(() => Controller.DeleteVolume({ volumeId }));
    },
  },
  {
    name: "NodePublishVolume: at a second path; with another access mode at the first",
    needsMounts,
    async run(kit) {
      const { volumeId } = await makeVolume(kit);
      const used = await use(kit, volumeId);
      const { stagingTargetPath } = used;
      const second = kit.path("second");
      const put = (targetPath: string, readonly: boolean) =>
        kit.driver.Node.NodePublishVolume({ volumeId, stagingTargetPath, targetPath, volumeCapability, readonly });
      await put(second, true);
      await fails(put(second, false), "ALREADY_EXISTS");
      await fails(put(used.targetPath, true), "ALREADY_EXISTS");
      await kit.driver.Node.NodeUnpublishVolume({ volumeId, targetPath: second });
      await used.end();
    },
  },
  {
    name: "NodePublishVolume: a volume with one writer is at one path",
    needsMounts,
    async run(kit) {
      const one = mounting(AccessMode.SINGLE_NODE_SINGLE_WRITER);
      const { volumeId } = await makeVolume(kit, "a", { volumeCapabilities: [one] });
      const used = await use(kit, volumeId, one);
      const { stagingTargetPath } = used;
      const elsewhere = { volumeId, stagingTargetPath, targetPath: kit.path("second"), volumeCapability: one };
      await fails(kit.driver.Node.NodePublishVolume(elsewhere), "FAILED_PRECONDITION");
      await used.end();
    },
  },
  {
    name: "NodeGetVolumeStats: bytes and inodes, and a condition",
    needsMounts,
    async run(kit) {
      const { volumeId } = await makeVolume(kit);
      const used = await use(kit, volumeId);
      const { usage, volumeCondition } = await kit.driver.Node.NodeGetVolumeStats({
        volumeId,
        volumePath: used.targetPath,
      });
      expect(usage.map(({ unit }) => unit)).toEqual([1, 2]);
      for (const { total, available } of usage) {
        expect(Number(total)).toBeGreaterThan(0);
        expect(Number(available)).toBeLessThanOrEqual(Number(total));
      }
      expect(Number(usage[0]?.total)).toBeLessThanOrEqual(SIZE);
      expect(volumeCondition?.abnormal).toBe(false);
      await used.end();
    },
  },
  {
    name: "NodeExpandVolume: after the controller's part, while it is used; not beyond that",
    needsMounts,
    async run(kit) {
      const size = 4 * SIZE;
      const { volumeId } = await makeVolume(kit, "a", { capacityRange: { requiredBytes: size } });
      let used = await use(kit, volumeId);
      const volumePath = used.targetPath;
      const total = async () =>
        Number((await kit.driver.Node.NodeGetVolumeStats({ volumeId, volumePath })).usage[0]?.total);
      const before = await total();
      const capacityRange = { requiredBytes: 3 * size };
      await fails(kit.driver.Node.NodeExpandVolume({ volumeId, volumePath, capacityRange }), "OUT_OF_RANGE");
      await kit.driver.Controller.ControllerExpandVolume({ volumeId, capacityRange, volumeCapability });
      const expand = () => kit.driver.Node.NodeExpandVolume({ volumeId, volumePath, capacityRange });
      if (!kit.growsMounted) {
        await fails(expand(), "FAILED_PRECONDITION");
        await used.end();
        used = await use(kit, volumeId);
      }
      for (const _ of [1, 2]) expect(await expand()).toEqual({ capacityBytes: String(3 * size) });
      expect(await total()).toBeGreaterThan(2 * before);
      await used.end();
    },
  },
  {
    name: "a raw block volume: staged, published, figures, taken down",
    needsMounts,
    async run(kit) {
      const { volumeId } = await makeVolume(kit, "a", { volumeCapabilities: [block()] });
      const used = await use(kit, volumeId, block());
      const { usage } = await kit.driver.Node.NodeGetVolumeStats({ volumeId, volumePath: used.targetPath });
      expect(usage).toMatchObject([{ total: String(SIZE), unit: 1 }]);
      await used.end();
      expect(await kit.driver.Controller.DeleteVolume({ volumeId })).toEqual({});
    },
  },
  {
    name: "an inline volume: made when it is published, gone afterwards; each twice",
    needsMounts,
    async run(kit) {
      const volumeId = `csi-${kit.name("inline")}`;
      const targetPath = kit.path("target");
      const volumeContext = { [EPHEMERAL]: "true", size: "16Mi" };
      const request = { volumeId, targetPath, volumeCapability, volumeContext };
      const { NodePublishVolume, NodeUnpublishVolume, NodeGetVolumeStats } = kit.driver.Node;
      const odd = { ...request, volumeContext: { ...volumeContext, speed: "fast" } };
      await fails(NodePublishVolume(odd), "INVALID_ARGUMENT");
      const away = { ...request, volumeId: "../../etc/passwd" };
      await fails(NodePublishVolume(away), "INVALID_ARGUMENT");
      for (const _ of [1, 2]) await NodePublishVolume(request);
      const { usage } = await NodeGetVolumeStats({ volumeId, volumePath: targetPath });
      expect(Number(usage[0]?.total)).toBeLessThanOrEqual(SIZE);
      for (const _ of [1, 2]) expect(await NodeUnpublishVolume({ volumeId, targetPath })).toEqual({});
      await fails(NodeGetVolumeStats({ volumeId, volumePath: targetPath }), "NOT_FOUND");
    },
  },
];
