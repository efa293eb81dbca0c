/** The kinds of groupsnapshot.storage.k8s.io: snapshots of several volumes at one point in time. */
import type { Int64, KubeObject, LabelSelector } from "#api";
import { clusterWide, namespaced } from "#client";
import type { DeletionPolicy, ObjectReference, SnapshotError } from "./kinds.ts";

export const GROUP_SNAPSHOT_GROUP = "groupsnapshot.storage.k8s.io";
const VERSION = `${GROUP_SNAPSHOT_GROUP}/v1`;

export interface VolumeGroupSnapshotStatus {
  readonly boundVolumeGroupSnapshotContentName?: string;
  readonly creationTime?: string;
  readonly readyToUse?: boolean;
  readonly error?: SnapshotError;
}

export interface VolumeGroupSnapshot extends KubeObject {
  readonly spec: {
    readonly source: { readonly selector?: LabelSelector; readonly volumeGroupSnapshotContentName?: string };
    readonly volumeGroupSnapshotClassName?: string;
  };
  readonly status?: VolumeGroupSnapshotStatus;
}

/** A member, as the driver reported it. */
export interface VolumeSnapshotInfo {
  readonly volumeHandle?: string;
  readonly snapshotHandle?: string;
  /** Nanoseconds since 1970. */
  readonly creationTime?: Int64;
  readonly readyToUse?: boolean;
  readonly restoreSize?: Int64;
}

export interface VolumeGroupSnapshotContentStatus {
  readonly volumeGroupSnapshotHandle?: string;
  readonly creationTime?: string;
  readonly readyToUse?: boolean;
  readonly error?: SnapshotError;
  readonly volumeSnapshotInfoList?: readonly VolumeSnapshotInfo[];
}

export interface GroupSnapshotHandles {
  readonly volumeGroupSnapshotHandle: string;
  readonly volumeSnapshotHandles: readonly string[];
}

export interface VolumeGroupSnapshotContent extends KubeObject {
  readonly spec: {
    readonly volumeGroupSnapshotRef: ObjectReference;
    readonly deletionPolicy: DeletionPolicy;
    readonly driver: string;
    readonly volumeGroupSnapshotClassName?: string;
    readonly source: {
      readonly volumeHandles?: readonly string[];
      readonly groupSnapshotHandles?: GroupSnapshotHandles;
    };
  };
  readonly status?: VolumeGroupSnapshotContentStatus;
}

export interface VolumeGroupSnapshotClass extends KubeObject {
  readonly driver: string;
  readonly deletionPolicy: DeletionPolicy;
  readonly parameters?: Readonly<Record<string, string>>;
}

export const groupKinds = {
  VolumeGroupSnapshot: namespaced<VolumeGroupSnapshot>(VERSION, "VolumeGroupSnapshot", "volumegroupsnapshots"),
  VolumeGroupSnapshotContent: clusterWide<VolumeGroupSnapshotContent>(
    VERSION,
    "VolumeGroupSnapshotContent",
    "volumegroupsnapshotcontents",
  ),
  VolumeGroupSnapshotClass: clusterWide<VolumeGroupSnapshotClass>(
    VERSION,
    "VolumeGroupSnapshotClass",
    "volumegroupsnapshotclasses",
  ),
} as const;
