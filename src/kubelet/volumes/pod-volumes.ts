/** The volumes of Pods, as the kubelet uses them. */
import type { core } from "#api";
import type { VolumePath } from "../containers/index.ts";
import type { VolumeUsage } from "./volume-usage.ts";

export interface PodVolumes {
  /** Mounts all volumes of the Pod and updates their contents; images wait for `mountImage`. Throws VolumeError. */
  mount(pod: core.Pod, signal: AbortSignal): Promise<ReadonlyMap<string, VolumePath>>;
  /** Mounts an image that is on the node, by its id, as the volume of that name. Throws VolumeError. */
  mountImage(pod: core.Pod, name: string, image: string, signal: AbortSignal): Promise<VolumePath>;
  /** A path for a subPath that cannot leave the volume, whatever links the volume has. */
  subPath(request: SubPathRequest, signal: AbortSignal): Promise<string>;
  /**
   * The contents of a file in a volume; undefined if there is none. Links cannot leave the volume. Throws VolumeError.
   */
  readFile(volume: VolumePath, path: string): Promise<string | undefined>;
  /** Also volumes of a kubelet before this one. */
  unmount(uid: string, signal: AbortSignal): Promise<void>;
  /** What the mounted volumes of a Pod have and use; those of which nothing is known are left out. */
  usage(pod: core.Pod, signal: AbortSignal): Promise<readonly VolumeUsage[]>;
  /** The uids of Pods that have volumes here. */
  podUids(): Promise<readonly string[]>;
}

export interface SubPathRequest {
  readonly pod: core.Pod;
  readonly container: string;
  readonly volume: VolumePath;
  readonly volumeName: string;
  readonly mountIndex: number;
  readonly subPath: string;
  readonly readOnly: boolean;
}
