/** The kinds that the scheduler reads and writes. */
import { type apps, builtInKind, type coordination, type core, type events, type policy, type storage } from "#api";

export const Namespace = builtInKind<core.Namespace>("v1 Namespace");
export const Node = builtInKind<core.Node>("v1 Node");
export const PersistentVolume = builtInKind<core.PersistentVolume>("v1 PersistentVolume");
export const PersistentVolumeClaim = builtInKind<core.PersistentVolumeClaim>("v1 PersistentVolumeClaim");
export const Pod = builtInKind<core.Pod>("v1 Pod");
export const Binding = builtInKind<core.Binding>("v1 Binding");
export const ReplicationController = builtInKind<core.ReplicationController>("v1 ReplicationController");
export const Service = builtInKind<core.Service>("v1 Service");
export const ReplicaSet = builtInKind<apps.ReplicaSet>("apps/v1 ReplicaSet");
export const StatefulSet = builtInKind<apps.StatefulSet>("apps/v1 StatefulSet");
export const Lease = builtInKind<coordination.Lease>("coordination.k8s.io/v1 Lease");
export const Event = builtInKind<events.Event>("events.k8s.io/v1 Event");
export const PodDisruptionBudget = builtInKind<policy.PodDisruptionBudget>("policy/v1 PodDisruptionBudget");
export const StorageClass = builtInKind<storage.StorageClass>("storage.k8s.io/v1 StorageClass");
export const CSINode = builtInKind<storage.CSINode>("storage.k8s.io/v1 CSINode");
export const CSIDriver = builtInKind<storage.CSIDriver>("storage.k8s.io/v1 CSIDriver");
export const CSIStorageCapacity = builtInKind<storage.CSIStorageCapacity>("storage.k8s.io/v1 CSIStorageCapacity");
export const VolumeAttachment = builtInKind<storage.VolumeAttachment>("storage.k8s.io/v1 VolumeAttachment");
