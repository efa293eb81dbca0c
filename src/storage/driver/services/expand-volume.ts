/** ControllerExpandVolume: the image grows, and its device with it; the file system follows on the node. */
import type { CsiHandlers } from "../../csi/services.ts";
import { needed, neededMessage } from "../rules/requests.ts";
import { rangeOf, sizeFor } from "../rules/sizes.ts";
import { type DriverContext, deviceOf, volumeImage, volumeOf } from "./context.ts";
import { reserving } from "./room.ts";

type Handlers = Pick<CsiHandlers<"Controller">, "ControllerExpandVolume">;

export function volumeExpansion(context: DriverContext): Handlers {
  const { catalog, busy } = context;
  return {
    async ControllerExpandVolume({ volumeId, capacityRange, volumeCapability }) {
      needed(volumeId, "volume_id");
      const range = rangeOf(neededMessage(capacityRange, "capacity_range"));
      return busy.hold([volumeId], async () => {
        const volume = volumeOf(context, volumeId);
        const isBlock = volumeCapability !== null && volumeCapability.block !== null;
        const bytes = Math.max(volume.bytes, sizeFor(range));
        const machine = context.machineOf(volume.node);
        if (bytes > volume.bytes) {
          await reserving(context, volume.node, bytes - volume.bytes, async () => {
            // The record first: an image is never larger than what was promised.
            await catalog.put("volumes", { ...volume, bytes });
            await machine.images.extend(volumeImage(volumeId), bytes);
          });
        } else await machine.images.extend(volumeImage(volumeId), bytes);
        const device = await deviceOf(machine, volumeId);
        if (device !== undefined) await machine.refresh(device.number);
        return { capacityBytes: bytes, nodeExpansionRequired: !isBlock };
      });
    },
  };
}
