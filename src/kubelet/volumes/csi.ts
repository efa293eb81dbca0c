/** The node's interface to CSI drivers. The implementation is passed in. */
import type { core } from "#api";
import type { PodCalls } from "../runtime/recorded.ts";
import type { VolumeCondition, VolumeFigures } from "./volume-usage.ts";

export interface CsiVolumes {
  /** Mounts a persistent or inline volume and returns its path on the node, or that of its block device. Idempotent. */
  mount(request: CsiMountRequest, signal: AbortSignal): Promise<string>;
  /** What the driver says of a volume, by the path that `mount` returned. Undefined if it does not say anything. */
  usage(path: string, signal: AbortSignal): Promise<CsiVolumeUsage | undefined>;
  /** Unmounts all volumes of a Pod, also those of a kubelet before this one. */
  unmount(podUid: string, signal: AbortSignal): Promise<void>;
}

export interface CsiVolumeUsage extends VolumeFigures {
  readonly condition?: VolumeCondition | undefined;
}

export interface CsiMountRequest {
  readonly pod: core.Pod;
  readonly volume: core.Volume;
  /** Undefined for an inline volume. */
  readonly persistentVolume?: core.PersistentVolume | undefined;
  readonly claim?: core.PersistentVolumeClaim | undefined;
  readonly readOnly: boolean;
  /** Default: calls are not recorded. */
  readonly calls?: PodCalls | undefined;
}

/** A node without CSI drivers. */
export const noCsi: CsiVolumes = {
  async mount({ volume, persistentVolume }) {
    const driver = volume.csi?.driver ?? persistentVolume?.spec?.csi?.driver ?? "";
    throw new Error(`driver name ${driver} not found in the list of registered CSI drivers`);
  },
  usage: async () => undefined,
  unmount: async () => {},
};
