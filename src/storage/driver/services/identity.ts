/** Who the driver is. */
import { PluginService, VolumeExpansion } from "../../csi/enums.ts";
import type { CsiHandlers } from "../../csi/services.ts";
import { DRIVER_NAME } from "../rules/names.ts";
import type { DriverContext } from "./context.ts";

const SERVICES = [
  PluginService.CONTROLLER_SERVICE,
  PluginService.VOLUME_ACCESSIBILITY_CONSTRAINTS,
  PluginService.GROUP_CONTROLLER_SERVICE,
];

export function identityService({ version }: DriverContext): CsiHandlers<"Identity"> {
  return {
    GetPluginInfo: async () => ({ name: DRIVER_NAME, vendorVersion: version }),
    GetPluginCapabilities: async () => ({
      capabilities: [
        ...SERVICES.map((type) => ({ service: { type } })),
        { volumeExpansion: { type: VolumeExpansion.ONLINE } },
      ],
    }),
    Probe: async () => ({ ready: { value: true } }),
  };
}
