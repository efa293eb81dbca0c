/** The CSI volumes of claims. */
import { classOfClaim, type VolumeObjects } from "../volume-objects.ts";

/** Volumes by driver. */
export type Attached = ReadonlyMap<string, ReadonlySet<string>>;

export interface DrivenVolume {
  readonly driver: string;
  readonly volume: string;
}

export function volumesOf(claims: Iterable<string>, objects: VolumeObjects): Attached {
  const volumes = new Map<string, Set<string>>();
  for (const key of claims) {
    const found = volumeOf(key, objects);
    if (found === undefined) continue;
    const own = volumes.get(found.driver);
    if (own === undefined) volumes.set(found.driver, new Set([found.volume]));
    else own.add(found.volume);
  }
  return volumes;
}

/** Undefined if it is not a CSI volume. */
export function volumeOf(key: string, objects: VolumeObjects): DrivenVolume | undefined {
  const claim = objects.claim(key);
  if (claim === undefined) return undefined;
  const volume = objects.volume(claim.spec?.volumeName ?? "");
  if (volume !== undefined) {
    const csi = volume.spec?.csi;
    return csi === undefined ? undefined : { driver: csi.driver, volume: csi.volumeHandle };
  }
  const provisioner = objects.storageClass(classOfClaim(claim))?.provisioner;
  return provisioner === undefined ? undefined : { driver: provisioner, volume: `unmade ${key}` };
}

/** The driver's volumes that are attached to a node, whether a Pod still uses them or not. */
export function attachedTo(node: string, driver: string, objects: VolumeObjects): readonly string[] {
  return objects.attachmentsTo(node).flatMap(({ spec: { attacher, source } }) => {
    if (attacher !== driver) return [];
    return objects.volume(source.persistentVolumeName ?? "")?.spec?.csi?.volumeHandle ?? [];
  });
}

/** Undefined: no limit, or the driver is not installed. */
export function limitOf(node: string, driver: string, objects: VolumeObjects): number | undefined {
  return objects.csiNode(node)?.spec?.drivers?.find(({ name }) => name === driver)?.allocatable?.count;
}
