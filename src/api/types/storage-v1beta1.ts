/** Written by scripts/api-types.ts: not to be edited. */
import type { Int64 } from "../machinery/json/json.ts";
import type { ObjectMeta } from "../machinery/schema/object.ts";
import type { PersistentVolumeSpec, TopologySelectorTerm } from "./core-v1.ts";
import type { LabelSelector, ListMeta } from "./meta-v1.ts";

export interface CSIDriver {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: CSIDriverSpec;
}

export interface CSIDriverList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly CSIDriver[];
}

export interface CSIDriverSpec {
  readonly attachRequired?: boolean;
  readonly podInfoOnMount?: boolean;
  readonly volumeLifecycleModes?: readonly string[];
  readonly storageCapacity?: boolean;
  readonly fsGroupPolicy?: string;
  readonly tokenRequests?: readonly TokenRequest[];
  readonly requiresRepublish?: boolean;
  readonly seLinuxMount?: boolean;
  readonly nodeAllocatableUpdatePeriodSeconds?: Int64;
  readonly serviceAccountTokenInSecrets?: boolean;
  readonly preventPodSchedulingIfMissing?: boolean;
}

export interface CSINode {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: CSINodeSpec;
}

export interface CSINodeDriver {
  readonly name: string;
  readonly nodeID: string;
  readonly topologyKeys?: readonly string[];
  readonly allocatable?: VolumeNodeResources;
}

export interface CSINodeList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly CSINode[];
}

export interface CSINodeSpec {
  readonly drivers: readonly CSINodeDriver[];
}

export interface CSIStorageCapacity {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly nodeTopology?: LabelSelector;
  readonly storageClassName: string;
  readonly capacity?: string;
  readonly maximumVolumeSize?: string;
}

export interface CSIStorageCapacityList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly CSIStorageCapacity[];
}

export interface StorageClass {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly provisioner: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly reclaimPolicy?: "Delete" | "Recycle" | "Retain";
  readonly mountOptions?: readonly string[];
  readonly allowVolumeExpansion?: boolean;
  readonly volumeBindingMode?: string;
  readonly allowedTopologies?: readonly TopologySelectorTerm[];
}

export interface StorageClassList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly StorageClass[];
}

export interface TokenRequest {
  readonly audience: string;
  readonly expirationSeconds?: Int64;
}

export interface VolumeAttachment {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly spec: VolumeAttachmentSpec;
  readonly status?: VolumeAttachmentStatus;
}

export interface VolumeAttachmentList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly VolumeAttachment[];
}

export interface VolumeAttachmentSource {
  readonly persistentVolumeName?: string;
  readonly inlineVolumeSpec?: PersistentVolumeSpec;
}

export interface VolumeAttachmentSpec {
  readonly attacher: string;
  readonly source: VolumeAttachmentSource;
  readonly nodeName: string;
}

export interface VolumeAttachmentStatus {
  readonly attached: boolean;
  readonly attachmentMetadata?: Readonly<Record<string, string>>;
  readonly attachError?: VolumeError;
  readonly detachError?: VolumeError;
}

export interface VolumeAttributesClass {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata: ObjectMeta;
  readonly driverName: string;
  readonly parameters?: Readonly<Record<string, string>>;
}

export interface VolumeAttributesClassList {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: ListMeta;
  readonly items: readonly VolumeAttributesClass[];
}

export interface VolumeError {
  readonly time?: string;
  readonly message?: string;
  readonly errorCode?: number;
}

export interface VolumeNodeResources {
  readonly count?: number;
}
