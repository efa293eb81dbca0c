/** What a node needs of CSI: volumes by driver. The part that speaks to drivers is made elsewhere and passed in. */
import type { core } from "#api";

export interface CsiVolumes {
  /** Makes an attached or inline volume ready, and returns where it is on the node. Idempotent. */
  mount(request: CsiMountRequest, signal: AbortSignal): Promise<string>;
  /** Takes down all volumes of a Pod, also those of a kubelet before this one. */
  unmount(podUid: string, signal: AbortSignal): Promise<void>;
}

export interface CsiMountRequest {
  readonly pod: core.Pod;
  readonly volume: core.Volume;
  /** Of a volume by claim; undefined for an inline one. */
  readonly persistentVolume?: core.PersistentVolume;
  readonly readOnly: boolean;
}

/** Of a node without drivers. */
export const noCsi: CsiVolumes = {
  async mount({ volume, persistentVolume }) {
    const driver = volume.csi?.driver ?? persistentVolume?.spec?.csi?.driver ?? "";
    throw new Error(`driver name ${driver} not found in the list of registered CSI drivers`);
  },
  unmount: async () => {},
};
