/** What else a node does for its volumes: figures, expansion, and who it is. */
import { GrpcError } from "#grpc";
import { NodeRpc, UsageUnit } from "../../csi/enums.ts";
import type { CsiHandlers } from "../../csi/services.ts";
import { growsMounted } from "../rules/file-systems.ts";
import { needed } from "../rules/requests.ts";
import { rangeOf } from "../rules/sizes.ts";
import { topologyOf } from "../rules/topology.ts";
import { type DriverContext, deviceOf } from "./context.ts";
import { conditionOf } from "./describe-volumes.ts";
import { mountAt } from "./mounted.ts";
import { ownVolume } from "./stage.ts";

type Handlers = Pick<
  CsiHandlers<"Node">,
  "NodeGetVolumeStats" | "NodeExpandVolume" | "NodeGetCapabilities" | "NodeGetInfo"
>;

const OFFERED = [
  NodeRpc.STAGE_UNSTAGE_VOLUME,
  NodeRpc.GET_VOLUME_STATS,
  NodeRpc.EXPAND_VOLUME,
  NodeRpc.VOLUME_CONDITION,
  NodeRpc.SINGLE_NODE_MULTI_WRITER,
];

export function nodeVolumes(context: DriverContext, nodeId: string): Handlers {
  const { busy, catalog } = context;
  const machine = context.machineOf(nodeId);

  /** Its device, and whether that is a file system there. */
  async function mountedAt(volumeId: string, path: string) {
    const volume = ownVolume(context, volumeId, nodeId);
    const device = await deviceOf(machine, volumeId);
    const there = await mountAt(machine, path);
    if (device === undefined || there?.device !== device.number)
      throw new GrpcError("NOT_FOUND", `volume ${volumeId} is not at ${path}`);
    return { volume, device: device.number, isBlock: there.isBlock };
  }

  return {
    async NodeGetVolumeStats({ volumeId, volumePath }) {
      needed(volumeId, "volume_id");
      needed(volumePath, "volume_path");
      const { volume, isBlock } = await mountedAt(volumeId, volumePath);
      const volumeCondition = await conditionOf(context, volume);
      if (isBlock) return { usage: [{ total: volume.bytes, unit: UsageUnit.BYTES }], volumeCondition };
      const used = await machine.usage(volumePath);
      return {
        volumeCondition,
        usage: [
          { total: used.totalBytes, used: used.usedBytes, available: used.availableBytes, unit: UsageUnit.BYTES },
          { total: used.totalInodes, used: used.usedInodes, available: used.availableInodes, unit: UsageUnit.INODES },
        ],
      };
    },
    async NodeExpandVolume({ volumeId, volumePath, capacityRange }, { signal }) {
      needed(volumeId, "volume_id");
      needed(volumePath, "volume_path");
      const { required } = rangeOf(capacityRange);
      return busy.hold([volumeId], async () => {
        const { volume, device, isBlock } = await mountedAt(volumeId, volumePath);
        const { bytes, fsType } = volume;
        if (required > bytes)
          throw new GrpcError("OUT_OF_RANGE", `volume ${volumeId} has ${bytes} bytes: the controller has to expand it`);
        await machine.refresh(device);
        if (!isBlock && fsType !== undefined && volume.fsBytes !== bytes) {
          if (!growsMounted(machine.fileSystems, fsType))
            throw new GrpcError("FAILED_PRECONDITION", `${fsType} grows here when volume ${volumeId} is staged again`);
          await machine.growFileSystem(fsType, device, volumePath, signal);
          await catalog.put("volumes", { ...volume, fsBytes: bytes });
        }
        return { capacityBytes: bytes };
      });
    },
    NodeGetCapabilities: async () => ({ capabilities: OFFERED.map((type) => ({ rpc: { type } })) }),
    NodeGetInfo: async () => ({
      nodeId,
      maxVolumesPerNode: machine.maxDevices,
      accessibleTopology: topologyOf(nodeId),
    }),
  };
}
