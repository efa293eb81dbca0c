/**
 * Marks on claims and volumes of in-tree plugins.
 *
 * 1. Those of a plugin that a CSI driver has replaced have an annotation with the driver's name: its provisioner
 *    handles them from then on. All others do not have it.
 * 2. A volume of a plugin that is still in the tree has a finalizer if it is to be deleted with its claim, so that its
 *    deletion by a user does not leave the storage behind.
 */
import { equalJson, kinds, migratedDriver } from "#api";
import type { Write } from "../runtime/index.ts";
import {
  BETA_STORAGE_PROVISIONER,
  MIGRATED_TO,
  PROVISIONED_BY,
  STORAGE_PROVISIONER,
  type Volume,
  type VolumeClaim,
} from "./facts.ts";

export const IN_TREE_FINALIZER = "kubernetes.io/pv-controller";

type Annotations = Readonly<Record<string, string>>;

/** The write that puts the annotation right; undefined if it is. */
export function migratedClaim(claim: VolumeClaim): Write | undefined {
  const { annotations = {} } = claim.metadata;
  const provisioner = annotations[STORAGE_PROVISIONER] ?? annotations[BETA_STORAGE_PROVISIONER];
  const after = withDriver(annotations, provisioner);
  if (equalJson(annotations, after)) return undefined;
  const object: VolumeClaim = { ...claim, metadata: { ...claim.metadata, annotations: after } };
  return { verb: "update", resource: kinds.PersistentVolumeClaim, object };
}

/** The write that puts annotation and finalizer right; undefined if they are. */
export function migratedVolume(volume: Volume): Write | undefined {
  const { annotations = {}, finalizers = [] } = volume.metadata;
  const after = withDriver(annotations, annotations[PROVISIONED_BY]);
  const kept = finalizersOf(volume);
  if (equalJson(annotations, after) && equalJson([...finalizers], [...kept])) return undefined;
  const object: Volume = { ...volume, metadata: { ...volume.metadata, annotations: after, finalizers: kept } };
  return { verb: "update", resource: kinds.PersistentVolume, object };
}

export function withoutInTreeFinalizer(volume: Volume): Write {
  const finalizers = (volume.metadata.finalizers ?? []).filter((each) => each !== IN_TREE_FINALIZER);
  const object: Volume = { ...volume, metadata: { ...volume.metadata, finalizers } };
  return { verb: "update", resource: kinds.PersistentVolume, object };
}

/** Without a provisioner, nothing is known of the object, and nothing changes. */
function withDriver(annotations: Annotations, provisioner: string | undefined): Annotations {
  if (provisioner === undefined || provisioner === "") return annotations;
  const driver = migratedDriver(provisioner);
  if (driver !== undefined) return { ...annotations, [MIGRATED_TO]: driver };
  const { [MIGRATED_TO]: _, ...rest } = annotations;
  return rest;
}

function finalizersOf({ metadata, spec, status }: Volume): readonly string[] {
  const { finalizers = [], annotations = {}, deletionTimestamp } = metadata;
  const provisioner = annotations[PROVISIONED_BY] ?? "";
  const others = finalizers.filter((each) => each !== IN_TREE_FINALIZER);
  if (migratedDriver(provisioner) !== undefined) return others;
  if (!provisioner.startsWith("kubernetes.io/")) return finalizers;
  if (spec?.persistentVolumeReclaimPolicy !== "Delete") return others;
  const isIn = others.length < finalizers.length;
  // A terminating object gets no finalizers, and one that is being reclaimed has lost it on purpose.
  const isLate = deletionTimestamp !== undefined || status?.phase === "Released" || status?.phase === "Failed";
  return isIn || isLate ? finalizers : [...finalizers, IN_TREE_FINALIZER];
}
