/** SELinux labels of a Pod's CSI volumes: as an option of the mount, and the same for all Pods of the node. */
import type { core, storage } from "#api";
import { type CsiMountRequest, VolumeError } from "../volumes/index.ts";
import { usersOf } from "./on-disk.ts";
import { type Wanted, withLabel } from "./requests.ts";
import { mountLabel, type Selinux } from "./selinux.ts";

export interface Labelling {
  /** Undefined: the machine has none. */
  readonly selinux?: Selinux | undefined;
  /** Whether volumes of several Pods are mounted with a label, too: gate SELinuxMount. */
  readonly isLabelledForAll?: boolean | undefined;
}

export function labelled(
  wanted: Wanted,
  { selinux, isLabelledForAll: forAllModes = false }: Labelling,
  { pod, volume }: CsiMountRequest,
  driver: storage.CSIDriverSpec,
): Wanted {
  const { accessModes } = wanted;
  try {
    return withLabel(wanted, mountLabel(selinux, { pod, volumeName: volume.name, accessModes, driver, forAllModes }));
  } catch (error) {
    throw new VolumeError((error as Error).message);
  }
}

/** A volume is mounted on a node once, and so with one label. */
export async function refuseOtherLabel(root: string, { metadata }: core.Pod, wanted: Wanted): Promise<void> {
  const { driver: driverName, handle: volumeHandle, mountLabel: own = "", name } = wanted;
  const others = await usersOf(root, { driverName, volumeHandle }, metadata.uid);
  const other = others.find(({ seLinuxMountContext = "" }) => seLinuxMountContext !== own);
  if (other === undefined) return;
  const label = other.seLinuxMountContext ?? "";
  throw new VolumeError(`conflicting SELinux labels of volume ${name}: "${label}" and "${own}"`);
}
