/** Annotations, references and classes of volumes and claims. */
import type { core, KubeObject, storage } from "#api";

export type Volume = core.PersistentVolume;
export type VolumeClaim = core.PersistentVolumeClaim;
export type StorageClass = storage.StorageClass;

/** On claims: they have been bound. */
export const BIND_COMPLETED = "pv.kubernetes.io/bind-completed";
/** On volumes and claims: the reference was set by this controller, not by a user. */
export const BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller";
/** On claims, by the scheduler: the node of the first consumer. */
export const SELECTED_NODE = "volume.kubernetes.io/selected-node";
/** On volumes: the provisioner. */
export const PROVISIONED_BY = "pv.kubernetes.io/provisioned-by";
/** On volumes of in-tree plugins: the CSI driver that replaces the plugin. */
export const MIGRATED_TO = "pv.kubernetes.io/migrated-to";
/** On claims: the provisioner that shall create a volume. */
export const STORAGE_PROVISIONER = "volume.kubernetes.io/storage-provisioner";
export const BETA_STORAGE_PROVISIONER = "volume.beta.kubernetes.io/storage-provisioner";
/** On expanded volumes: the size of the file system before. */
export const PRE_RESIZE_CAPACITY = "volume.alpha.kubernetes.io/pre-resize-capacity";

const CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class";
const DEFAULT_CLASS = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];

export function has({ metadata }: KubeObject, annotation: string): boolean {
  return metadata.annotations?.[annotation] !== undefined;
}

export function classOfVolume({ metadata, spec }: Volume): string {
  return metadata.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName ?? "";
}

/** The key of the claim that a volume is bound to or reserved for; undefined if there is none. */
export function claimKeyOf({ spec }: Volume): string | undefined {
  const claim = spec?.claimRef;
  return claim === undefined ? undefined : `${claim.namespace ?? ""}/${claim.name ?? ""}`;
}

/** Whether the claimRef refers to this claim, by name and, if set, by uid. */
export function isFor({ spec }: Volume, { metadata }: VolumeClaim): boolean {
  const claim = spec?.claimRef;
  if (claim?.name !== metadata.name || claim?.namespace !== metadata.namespace) return false;
  return (claim?.uid ?? "") === "" || claim?.uid === metadata.uid;
}

/** The class has WaitForFirstConsumer. */
export function delaysBinding(storageClass: StorageClass | undefined): boolean {
  return storageClass?.volumeBindingMode === "WaitForFirstConsumer";
}

/** The newest default class; of several with the same time, the first by name. */
export function defaultClass(classes: Iterable<StorageClass>): StorageClass | undefined {
  const [first] = [...classes]
    .filter(({ metadata }) => DEFAULT_CLASS.some((key) => metadata.annotations?.[key] === "true"))
    .sort(({ metadata: a }, { metadata: b }) => {
      const [made, other] = [a.creationTimestamp ?? "", b.creationTimestamp ?? ""];
      if (made !== other) return made > other ? -1 : 1;
      return (a.name ?? "") < (b.name ?? "") ? -1 : 1;
    });
  return first;
}

export function isBeingDeleted({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}
