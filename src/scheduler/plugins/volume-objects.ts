/** Lookups of claims, volumes and related objects for the volume plugins. */
import { type core, type KubeObject, kinds, type storage, storageClassOf } from "#api";
import type { Informers } from "#client";

export type Claim = core.PersistentVolumeClaim;
export type Volume = core.PersistentVolume;

export interface VolumeObjects {
  /** By `namespace/name`. */
  claim(key: string): Claim | undefined;
  volume(name: string): Volume | undefined;
  volumesOfClass(className: string): readonly Volume[];
  storageClass(name: string): storage.StorageClass | undefined;
  csiNode(name: string): storage.CSINode | undefined;
  csiDriver(name: string): storage.CSIDriver | undefined;
  capacitiesOf(className: string): readonly storage.CSIStorageCapacity[];
  /** To the node of this name. */
  attachmentsTo(node: string): readonly storage.VolumeAttachment[];
}

export function volumeObjects(informers: Informers): VolumeObjects {
  const claims = informers.of(kinds.PersistentVolumeClaim).cache;
  const volumes = informers.of(kinds.PersistentVolume).cache;
  const classes = informers.of(kinds.StorageClass).cache;
  const nodes = informers.of(kinds.CSINode).cache;
  const drivers = informers.of(kinds.CSIDriver).cache;
  const capacities = informers.of(kinds.CSIStorageCapacity).cache;
  const attachments = informers.of(kinds.VolumeAttachment).cache;
  return {
    claim: (key) => claims.get(key),
    volume: (name) => volumes.get(name),
    volumesOfClass: volumes.index("storage class", (volume) => [classOfVolume(volume)]),
    storageClass: (name) => classes.get(name),
    csiNode: (name) => nodes.get(name),
    csiDriver: (name) => drivers.get(name),
    capacitiesOf: capacities.index("storage class", ({ storageClassName }) => [storageClassName]),
    attachmentsTo: attachments.index("node", ({ spec }) => [spec.nodeName]),
  };
}

/** On claims: they have been bound. */
export const BIND_COMPLETED = "pv.kubernetes.io/bind-completed";
/** On volumes: the claim was chosen by the cluster, not by a user. */
export const BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller";
/** On claims: the node that a volume is to be provisioned for. */
export const SELECTED_NODE = "volume.kubernetes.io/selected-node";

const CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";

export function classOfClaim(claim: Claim): string {
  return storageClassOf(claim);
}

export function classOfVolume({ metadata, spec }: Volume): string {
  return metadata.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName ?? "";
}

export function isBound({ metadata, spec }: Claim): boolean {
  return (spec?.volumeName ?? "") !== "" && metadata.annotations?.[BIND_COMPLETED] !== undefined;
}

export function isControlledBy({ metadata }: KubeObject, owner: KubeObject): boolean {
  return (metadata.ownerReferences ?? []).some(
    ({ controller, uid }) => controller === true && uid === owner.metadata.uid,
  );
}

/** Whether the volume's claimRef refers to this claim, by name and, if set, by uid. */
export function isVolumeFor({ spec }: Volume, { metadata }: Claim): boolean {
  const claim = spec?.claimRef;
  if (claim?.name !== metadata.name || claim?.namespace !== metadata.namespace) return false;
  return (claim?.uid ?? "") === "" || claim?.uid === metadata.uid;
}

export function claimNotFound(name: string): string {
  return `persistentvolumeclaim "${name}" not found`;
}

/** A claim of a Pod. */
export interface ClaimUse {
  readonly name: string;
  readonly key: string;
  /** Of a generic ephemeral volume. */
  readonly ephemeral: boolean;
}

export function claimUses({ metadata, spec }: core.Pod): readonly ClaimUse[] {
  const { namespace = "", name: podName = "" } = metadata;
  return (spec?.volumes ?? []).flatMap((volume) => {
    const ephemeral = volume.ephemeral !== undefined;
    const name = ephemeral ? `${podName}-${volume.name}` : volume.persistentVolumeClaim?.claimName;
    return name === undefined ? [] : [{ name, key: `${namespace}/${name}`, ephemeral }];
  });
}
