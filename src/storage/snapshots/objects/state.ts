/** What the fields of snapshots and contents mean. */
import { formatQuantity, formatTime, type Int64, type KubeObject, quantityOf } from "#api";
import { GROUP_SNAPSHOT_GROUP } from "./group-kinds.ts";
import type { ObjectReference, VolumeSnapshot, VolumeSnapshotContent } from "./kinds.ts";
import { contentNameFor } from "./names.ts";

const NANOS = 1_000_000_000n;

export function keyOfObject({ metadata: { namespace, name = "" } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

export function keyOfReference({ namespace = "", name = "" }: ObjectReference): string {
  return `${namespace}/${name}`;
}

export function has(object: KubeObject, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

export function isDeleted({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function isReady({ status }: { readonly status?: { readonly readyToUse?: boolean } }): boolean {
  return status?.readyToUse === true;
}

/** The content refers to this very object. */
export function refersTo(reference: ObjectReference, { metadata: { namespace, name, uid } }: KubeObject): boolean {
  return reference.name === name && reference.namespace === namespace && reference.uid === uid;
}

/** It refers to this object, or is reserved for one of its name. */
export function mayReferTo(reference: ObjectReference, object: KubeObject): boolean {
  const { namespace, name } = object.metadata;
  const isFree = (reference.uid ?? "") === "";
  return refersTo(reference, object) || (isFree && reference.name === name && reference.namespace === namespace);
}

/** The name of the content that a snapshot has or will have. */
export function contentNameOf({ spec, status, metadata }: VolumeSnapshot): string {
  const bound = status?.boundVolumeSnapshotContentName ?? "";
  return bound === "" ? (spec.source.volumeSnapshotContentName ?? contentNameFor(metadata.uid ?? "")) : bound;
}

/** The snapshots of a group belong to it. */
export function isGroupMember({ metadata }: VolumeSnapshot): boolean {
  return groupOwnerOf(metadata.ownerReferences) !== undefined;
}

export function groupOwnerOf(owners: KubeObject["metadata"]["ownerReferences"] = []) {
  return owners.find(
    ({ apiVersion, kind }) => kind === "VolumeGroupSnapshot" && apiVersion.startsWith(`${GROUP_SNAPSHOT_GROUP}/`),
  );
}

/** It was made with its group, not on its own. */
export function isMemberContent({ metadata }: VolumeSnapshotContent, annotation: string): boolean {
  return metadata.annotations?.[annotation] !== undefined;
}

/** RFC 3339, from nanoseconds since 1970. */
export function timeOfNanos(nanos: Int64): string {
  return formatTime({ seconds: Number(BigInt(nanos) / NANOS), nanos: 0 });
}

/** As resources are written: 1Gi. */
export function sizeText(bytes: Int64): string {
  return formatQuantity(quantityOf(bytes, "BinarySI"));
}
