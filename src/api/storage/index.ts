/** The public surface of storage.k8s.io. */
import { sameVersion } from "../definition/other-version.ts";
import type { Kind } from "../machinery/kind.ts";
import { CSIDriver } from "./csi-driver.ts";
import { CSINode } from "./csi-node.ts";
import { CSIStorageCapacity } from "./csi-storage-capacity.ts";
import { StorageClass } from "./storage-class.ts";
import { VolumeAttachment } from "./volume-attachment.ts";
import { VolumeAttributesClass } from "./volume-attributes-class.ts";

export { type CsiIdentity, csiIdentity, migratedDriver, migratedPlugin } from "./csi-migration.ts";
export { csiVolumeName, needsAttach, parseCsiVolumeName } from "./csi-volume-name.ts";
export { isDefaultClass } from "./storage-class.ts";

export const storageKinds: readonly Kind[] = [
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  StorageClass,
  VolumeAttachment,
  VolumeAttributesClass,
  sameVersion("storage.k8s.io/v1beta1", VolumeAttributesClass),
];
