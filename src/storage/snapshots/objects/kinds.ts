/** The kinds of snapshot.storage.k8s.io. They come with CustomResourceDefinitions: see `definitions`. */
import type { Int64, KubeObject } from "#api";
import { clusterWide, namespaced } from "#client";

export const SNAPSHOT_GROUP = "snapshot.storage.k8s.io";
const VERSION = `${SNAPSHOT_GROUP}/v1`;

export type DeletionPolicy = "Delete" | "Retain";

export interface SnapshotError {
  readonly time?: string;
  readonly message?: string;
}

export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface VolumeSnapshotStatus {
  readonly boundVolumeSnapshotContentName?: string;
  readonly creationTime?: string;
  readonly readyToUse?: boolean;
  readonly restoreSize?: string;
  readonly error?: SnapshotError;
  readonly volumeGroupSnapshotName?: string;
}

export interface VolumeSnapshot extends KubeObject {
  readonly spec: {
    readonly source: { readonly persistentVolumeClaimName?: string; readonly volumeSnapshotContentName?: string };
    readonly volumeSnapshotClassName?: string;
  };
  readonly status?: VolumeSnapshotStatus;
}

export interface VolumeSnapshotContentStatus {
  readonly snapshotHandle?: string;
  /** Nanoseconds since 1970. */
  readonly creationTime?: Int64;
  readonly restoreSize?: Int64;
  readonly readyToUse?: boolean;
  readonly error?: SnapshotError;
  readonly volumeGroupSnapshotHandle?: string;
}

export interface VolumeSnapshotContent extends KubeObject {
  readonly spec: {
    readonly volumeSnapshotRef: ObjectReference;
    readonly deletionPolicy: DeletionPolicy;
    readonly driver: string;
    readonly volumeSnapshotClassName?: string;
    readonly source: { readonly volumeHandle?: string; readonly snapshotHandle?: string };
    readonly sourceVolumeMode?: string;
  };
  readonly status?: VolumeSnapshotContentStatus;
}

export interface VolumeSnapshotClass extends KubeObject {
  readonly driver: string;
  readonly deletionPolicy: DeletionPolicy;
  readonly parameters?: Readonly<Record<string, string>>;
}

export const snapshotKinds = {
  VolumeSnapshot: namespaced<VolumeSnapshot>(VERSION, "VolumeSnapshot", "volumesnapshots"),
  VolumeSnapshotContent: clusterWide<VolumeSnapshotContent>(VERSION, "VolumeSnapshotContent", "volumesnapshotcontents"),
  VolumeSnapshotClass: clusterWide<VolumeSnapshotClass>(VERSION, "VolumeSnapshotClass", "volumesnapshotclasses"),
} as const;
