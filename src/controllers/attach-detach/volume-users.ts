/** Who uses a volume, on all nodes. Several PersistentVolumes may stand for the same volume. */
import { type core, csiIdentity, csiVolumeName } from "#api";
import type { ReadonlyCache } from "#client";
import { claimKeysOf, type Volume } from "../persistent-volume/index.ts";
import type { Pod } from "../pods/index.ts";
import type { VolumeAttachment } from "./attachments.ts";
import { isOver } from "./wanted-volumes.ts";

export interface VolumeUsers {
  /** By the name of the volume in a node's status. */
  attachmentsOf(volume: string): readonly VolumeAttachment[];
  /** Scheduled Pods with running containers. */
  podsWith(volume: string): readonly Pod[];
  nodesWith(volume: string): readonly string[];
  /** By the key of a claim. */
  nodesOfClaim(key: string): readonly string[];
  /** The nodes that its Pods run on and that it is attached to. */
  nodesOfVolume(volume: Volume): readonly string[];
  nodesOfDriver(driver: string): readonly string[];
  nameOf(volumeName: string | undefined): string | undefined;
}

export interface UsersCaches {
  readonly pods: ReadonlyCache<Pod>;
  readonly volumes: ReadonlyCache<Volume>;
  readonly attachments: ReadonlyCache<VolumeAttachment>;
}

export function volumeUsers({ pods, volumes, attachments }: UsersCaches): VolumeUsers {
  const podsOfClaim = pods.index("claims", claimKeysOf);
  const named = volumes.index("csi volume", (volume) => namesOf(volume));
  const ofDriver = volumes.index("csi driver", (volume) => {
    const driver = csiIdentity(volume)?.driver;
    return driver === undefined ? [] : [driver];
  });
  const attachmentsFor = attachments.index("volume", ({ spec }) => {
    const name = spec.source.persistentVolumeName;
    return name === undefined ? [] : [name];
  });
  const podsOf = ({ spec }: Volume) => {
    const { name = "", namespace = "" } = spec?.claimRef ?? {};
    return podsOfClaim(`${namespace}/${name}`);
  };
  const nodesOfVolume = (volume: Volume) =>
    distinct([
      ...podsOf(volume).map(({ spec }) => spec?.nodeName),
      ...attachmentsFor(volume.metadata.name ?? "").map(({ spec }) => spec.nodeName),
    ]);
  const podsWith = (volume: string) =>
    named(volume)
      .flatMap(podsOf)
      .filter((pod) => (pod.spec?.nodeName ?? "") !== "" && !isOver(pod));
  return {
    podsWith,
    nodesOfVolume,
    attachmentsOf: (volume) => named(volume).flatMap(({ metadata }) => attachmentsFor(metadata.name ?? "")),
    nodesWith: (volume) => distinct(podsWith(volume).map(({ spec }) => spec?.nodeName)),
    nodesOfClaim: (key) => distinct(podsOfClaim(key).map(({ spec }) => spec?.nodeName)),
    nodesOfDriver: (driver) => distinct(ofDriver(driver).flatMap(nodesOfVolume)),
    nameOf(volumeName) {
      const volume = volumes.get(volumeName ?? "");
      return volume && namesOf(volume)[0];
    },
  };
}

function namesOf(volume: core.PersistentVolume): readonly string[] {
  const identity = csiIdentity(volume);
  return identity === undefined ? [] : [csiVolumeName(identity)];
}

function distinct(names: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(names.filter((name) => name !== undefined && name !== ""))] as string[];
}
