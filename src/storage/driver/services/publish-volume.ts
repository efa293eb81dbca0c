/** ControllerPublishVolume and ControllerUnpublishVolume: whether the node may use a volume, and how. */
import { GrpcError } from "#grpc";
import type { CsiHandlers } from "../../csi/services.ts";
import { accessOf, isReadOnly } from "../rules/capabilities.ts";
import { needed, neededMessage } from "../rules/requests.ts";
import { type DriverContext, deviceOf, volumeOf } from "./context.ts";

type Handlers = Pick<CsiHandlers<"Controller">, "ControllerPublishVolume" | "ControllerUnpublishVolume">;

/** In the publish context: the node is told no more, and finds the device itself by the volume's image. */
export const READ_ONLY = "readOnly";

export function volumePublishing(context: DriverContext): Handlers {
  const { catalog, busy } = context;
  return {
    async ControllerPublishVolume({ volumeId, nodeId, volumeCapability, readonly }) {
      needed(volumeId, "volume_id");
      needed(nodeId, "node_id");
      const capability = neededMessage(volumeCapability, "volume_capability");
      return busy.hold([volumeId], async () => {
        const volume = volumeOf(context, volumeId);
        if (!context.nodes().includes(nodeId))
          throw new GrpcError("NOT_FOUND", `node ${nodeId} is not known here: volume ${volumeId} is on ${volume.node}`);
        if (nodeId !== volume.node)
          throw new GrpcError("FAILED_PRECONDITION", `volume ${volumeId} is on node ${volume.node}, not on ${nodeId}`);
        const access = accessOf(capability, context.machineOf(nodeId));
        const wanted = { readOnly: readonly || isReadOnly(access), mode: access.mode };
        const { published } = volume;
        if (published !== undefined && (published.readOnly !== wanted.readOnly || published.mode !== wanted.mode))
          throw new GrpcError(
            "ALREADY_EXISTS",
            `volume ${volumeId} is published to ${nodeId} with another access mode`,
          );
        if (published === undefined) await catalog.put("volumes", { ...volume, published: wanted });
        return { publishContext: { [READ_ONLY]: String(wanted.readOnly) } };
      });
    },
    async ControllerUnpublishVolume({ volumeId, nodeId }) {
      needed(volumeId, "volume_id");
      return busy.hold([volumeId], async () => {
        const volume = catalog.volumes.get(volumeId);
        // Empty: from all nodes. A volume that is gone is published nowhere.
        if (volume === undefined || (nodeId !== "" && nodeId !== volume.node)) return {};
        const machine = context.machineOf(volume.node);
        const device = await deviceOf(machine, volumeId);
        if (device !== undefined) {
          const mounted = (await machine.mounts()).find((mount) => mount.device === device.number);
          if (mounted !== undefined)
            throw new GrpcError("FAILED_PRECONDITION", `volume ${volumeId} is still mounted at ${mounted.path}`);
          await machine.detach(device.number);
        }
        const { published: _, ...record } = volume;
        await catalog.put("volumes", record);
        return {};
      });
    },
  };
}
