/** The node's interface to CSI drivers. The implementation is passed in. */
import type { core } from "#api";

export interface CsiVolumes {
  /** Mounts a persistent or inline volume and returns its path on the node, or that of its block device. Idempotent. */
  mount(request: CsiMountRequest, signal: AbortSignal): Promise<string>;
  /** Unmounts all volumes of a Pod, also those of a kubelet before this one. */
  unmount(podUid: string, signal: AbortSignal): Promise<void>;
}

export interface CsiMountRequest {
  readonly pod: core.Pod;
  readonly volume: core.Volume;
  /** Undefined for an inline volume. */
  readonly persistentVolume?: core.PersistentVolume | undefined;
  readonly claim?: core.PersistentVolumeClaim | undefined;
  readonly readOnly: boolean;
}

/** A node without CSI drivers. */
export const noCsi: CsiVolumes = {
  async mount({ volume, persistentVolume }) {
    const driver = volume.csi?.driver ?? persistentVolume?.spec?.csi?.driver ?? "";
    throw new Error(`driver name ${driver} not found in the list of registered CSI drivers`);
  },
  unmount: async () => {},
};
