/** The PersistentVolume of a volume that a driver has made. Pure. */
import type { core, storage } from "#api";
import type { CsiReceived } from "../../csi/index.ts";
import type { Abilities } from "../calls/driver-access.ts";
import { PROVISIONED_BY, type Volume, type VolumeClaim } from "../calls/volumes.ts";
import { quantityText, type Wanted } from "./request.ts";
import { affinityOf } from "./topology.ts";

/** Keeps a volume until the driver has deleted what it stands for. */
export const PROVISIONER_FINALIZER = "external-provisioner.volume.kubernetes.io/finalizer";
export const DELETION_SECRET_NAME = "volume.kubernetes.io/provisioner-deletion-secret-name";
export const DELETION_SECRET_NAMESPACE = "volume.kubernetes.io/provisioner-deletion-secret-namespace";
const PROVISIONER_IDENTITY = "storage.kubernetes.io/csiProvisionerIdentity";

export interface MadeVolume {
  readonly claim: VolumeClaim;
  readonly storageClass: storage.StorageClass;
  readonly wanted: Wanted;
  readonly made: CsiReceived<"Volume">;
  readonly driverName: string;
  readonly abilities: Abilities;
  /** Which provisioner made it: an attribute of the volume. */
  readonly identity: string;
}

export function volumeOf({ claim, storageClass, wanted, made, driverName, abilities, identity }: MadeVolume): Volume {
  const { secrets, fsType, requiredBytes } = wanted;
  const { name = "", namespace = "", uid = "", resourceVersion = "" } = claim.metadata;
  const { volumeMode, accessModes = [], volumeAttributesClassName = "" } = claim.spec ?? {};
  const { reclaimPolicy = "Delete", mountOptions } = storageClass;
  const capacity = BigInt(made.capacityBytes);
  const nodeAffinity = abilities.topology ? affinityOf(made.accessibleTopology) : undefined;
  const onlyReads = accessModes.length === 1 && accessModes[0] === "ReadOnlyMany";
  return {
    metadata: {
      name: wanted.request.name ?? "",
      annotations: {
        [PROVISIONED_BY]: storageClass.provisioner,
        [DELETION_SECRET_NAME]: secrets.provisioner?.name ?? "",
        [DELETION_SECRET_NAMESPACE]: secrets.provisioner?.namespace ?? "",
      },
      ...(reclaimPolicy === "Delete" && { finalizers: [PROVISIONER_FINALIZER] }),
    },
    spec: {
      accessModes,
      // A driver that does not know the size answers 0.
      capacity: { storage: quantityText(capacity === 0n ? requiredBytes : capacity) },
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: storageClass.metadata.name ?? "",
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", name, namespace, uid, resourceVersion },
      csi: {
        driver: driverName,
        volumeHandle: made.volumeId,
        volumeAttributes: { [PROVISIONER_IDENTITY]: identity, ...made.volumeContext },
        ...(onlyReads && abilities.publishReadOnly && { readOnly: true }),
        ...(fsType !== "" && { fsType }),
        ...references(secrets),
      },
      ...(mountOptions !== undefined && { mountOptions }),
      ...(volumeMode !== undefined && { volumeMode }),
      ...(nodeAffinity !== undefined && { nodeAffinity }),
      ...(volumeAttributesClassName !== "" && { volumeAttributesClassName }),
    },
  };
}

function references(secrets: Wanted["secrets"]): Partial<core.CSIPersistentVolumeSource> {
  const named = {
    controllerPublishSecretRef: secrets["controller-publish"],
    nodeStageSecretRef: secrets["node-stage"],
    nodePublishSecretRef: secrets["node-publish"],
    controllerExpandSecretRef: secrets["controller-expand"],
    nodeExpandSecretRef: secrets["node-expand"],
  };
  return Object.fromEntries(Object.entries(named).filter(([, reference]) => reference !== undefined));
}
