/** The names of CSI volumes in a node's status: in volumesAttached and in volumesInUse. */
import type { CSIDriver } from "../types/storage-v1.ts";
import type { CsiIdentity } from "./csi-migration.ts";

const PREFIX = "kubernetes.io/csi/";
const SEPARATOR = "^";

export function csiVolumeName({ driver, volumeHandle }: CsiIdentity): string {
  return `${PREFIX}${driver}${SEPARATOR}${volumeHandle}`;
}

/** Undefined if it is not the name of a CSI volume. */
export function parseCsiVolumeName(name: string): CsiIdentity | undefined {
  const at = name.indexOf(SEPARATOR);
  if (!name.startsWith(PREFIX) || at === -1) return undefined;
  return { driver: name.slice(PREFIX.length, at), volumeHandle: name.slice(at + 1) };
}

/** Volumes of drivers that do not say otherwise are attached before they are mounted. */
export function needsAttach(driver: CSIDriver | undefined): boolean {
  return driver?.spec.attachRequired !== false;
}
