/** The kinds that the scheduler reads and writes. */
import {
  apiVersionOf,
  type apps,
  builtIn,
  type coordination,
  type core,
  type events,
  type Kind,
  type KubeObject,
  type policy,
  type storage,
} from "#api";

const byName = new Map(builtIn.map((kind) => [`${apiVersionOf(kind)} ${kind.kind}`, kind]));

function kindOf<T extends KubeObject>(name: string): Kind<T> {
  const kind = byName.get(name);
  if (kind === undefined) throw new Error(`there is no kind ${name}`);
  return kind as unknown as Kind<T>;
}

export const Namespace = kindOf<core.Namespace>("v1 Namespace");
export const Node = kindOf<core.Node>("v1 Node");
export const PersistentVolume = kindOf<core.PersistentVolume>("v1 PersistentVolume");
export const PersistentVolumeClaim = kindOf<core.PersistentVolumeClaim>("v1 PersistentVolumeClaim");
export const Pod = kindOf<core.Pod>("v1 Pod");
export const Binding = kindOf<core.Binding>("v1 Binding");
export const ReplicationController = kindOf<core.ReplicationController>("v1 ReplicationController");
export const Service = kindOf<core.Service>("v1 Service");
export const ReplicaSet = kindOf<apps.ReplicaSet>("apps/v1 ReplicaSet");
export const StatefulSet = kindOf<apps.StatefulSet>("apps/v1 StatefulSet");
export const Lease = kindOf<coordination.Lease>("coordination.k8s.io/v1 Lease");
export const Event = kindOf<events.Event>("events.k8s.io/v1 Event");
export const PodDisruptionBudget = kindOf<policy.PodDisruptionBudget>("policy/v1 PodDisruptionBudget");
export const StorageClass = kindOf<storage.StorageClass>("storage.k8s.io/v1 StorageClass");
export const CSINode = kindOf<storage.CSINode>("storage.k8s.io/v1 CSINode");
export const CSIDriver = kindOf<storage.CSIDriver>("storage.k8s.io/v1 CSIDriver");
export const CSIStorageCapacity = kindOf<storage.CSIStorageCapacity>("storage.k8s.io/v1 CSIStorageCapacity");
export const VolumeAttachment = kindOf<storage.VolumeAttachment>("storage.k8s.io/v1 VolumeAttachment");
