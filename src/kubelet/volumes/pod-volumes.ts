/** What a kubelet asks of the volumes of its Pods. */
import type { core } from "#api";
import type { VolumePath } from "../containers/index.ts";

export interface PodVolumes {
  /** Makes all volumes of the Pod ready and brings their contents up to date. Throws VolumeError. */
  mount(pod: core.Pod, signal: AbortSignal): Promise<ReadonlyMap<string, VolumePath>>;
  /** A path inside a volume that stays inside, whatever links the volume holds. */
  subPath(request: SubPathRequest, signal: AbortSignal): Promise<string>;
  /** What a file in a volume says, if there is one; links do not lead out of the volume. Throws VolumeError. */
  readFile(volume: VolumePath, path: string): Promise<string | undefined>;
  /** Also what a kubelet before this one has left. */
  unmount(uid: string, signal: AbortSignal): Promise<void>;
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
