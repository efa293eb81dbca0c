/** The claims of a Pod's volumes. */
import type { core, storage } from "#api";
import type { PlainCluster } from "./cluster.ts";

const CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";
export const BIND_COMPLETED = "pv.kubernetes.io/bind-completed";
export const SELECTED_NODE = "volume.kubernetes.io/selected-node";

export interface ClaimUse {
  readonly name: string;
  /** Of a generic ephemeral volume. */
  readonly ephemeral: boolean;
  readonly claim: core.PersistentVolumeClaim | undefined;
}

export function claimUses(pod: core.Pod, { persistentVolumeClaims = [] }: PlainCluster): readonly ClaimUse[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => {
    const ephemeral = volume.ephemeral !== undefined;
    const name = ephemeral ? `${pod.metadata.name}-${volume.name}` : volume.persistentVolumeClaim?.claimName;
    if (name === undefined) return [];
    const claim = persistentVolumeClaims.find(
      ({ metadata }) => metadata.name === name && metadata.namespace === pod.metadata.namespace,
    );
    return [{ name, ephemeral, claim }];
  });
}

export function claimNotFound(name: string): string {
  return `persistentvolumeclaim "${name}" not found`;
}

export function classNameOf({ metadata, spec }: core.PersistentVolumeClaim): string {
  return metadata.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName ?? "";
}

export function classOf(claim: core.PersistentVolumeClaim, cluster: PlainCluster): storage.StorageClass | undefined {
  return cluster.storageClasses?.find(({ metadata }) => metadata.name === classNameOf(claim));
}

export function volumeClassOf({ metadata, spec }: core.PersistentVolume): string {
  return metadata.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName ?? "";
}

export function volumeOf(claim: core.PersistentVolumeClaim, cluster: PlainCluster): core.PersistentVolume | undefined {
  const name = claim.spec?.volumeName ?? "";
  return name === "" ? undefined : cluster.persistentVolumes?.find(({ metadata }) => metadata.name === name);
}

export function isBound({ metadata, spec }: core.PersistentVolumeClaim): boolean {
  return (spec?.volumeName ?? "") !== "" && metadata.annotations?.[BIND_COMPLETED] !== undefined;
}

export function isOwnedBy(claim: core.PersistentVolumeClaim, pod: core.Pod): boolean {
  return (claim.metadata.ownerReferences ?? []).some(
    ({ controller, uid }) => controller === true && uid === pod.metadata.uid,
  );
}
