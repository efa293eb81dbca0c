/** The kinds that controllers read and write. */
import {
  type admissionregistration,
  type apiextensions,
  apiVersionOf,
  type apps,
  type authorization,
  type autoscaling,
  type batch,
  builtIn,
  type certificates,
  type coordination,
  type core,
  type discovery,
  type events,
  type Kind,
  type KubeObject,
  type networking,
  type policy,
  type rbac,
  type resource,
  type scheduling,
  type storage,
} from "#api";

const byName = new Map(builtIn.map((kind) => [`${apiVersionOf(kind)} ${kind.kind}`, kind]));

function kindOf<T extends KubeObject>(name: string): Kind<T> {
  const kind = byName.get(name);
  if (kind === undefined) throw new Error(`there is no kind ${name}`);
  return kind as unknown as Kind<T>;
}

export const ConfigMap = kindOf<core.ConfigMap>("v1 ConfigMap");
export const Endpoints = kindOf<core.Endpoints>("v1 Endpoints");
export const LimitRange = kindOf<core.LimitRange>("v1 LimitRange");
export const Namespace = kindOf<core.Namespace>("v1 Namespace");
export const Node = kindOf<core.Node>("v1 Node");
export const PersistentVolume = kindOf<core.PersistentVolume>("v1 PersistentVolume");
export const PersistentVolumeClaim = kindOf<core.PersistentVolumeClaim>("v1 PersistentVolumeClaim");
export const Pod = kindOf<core.Pod>("v1 Pod");
export const ReplicationController = kindOf<core.ReplicationController>("v1 ReplicationController");
export const ResourceQuota = kindOf<core.ResourceQuota>("v1 ResourceQuota");
export const Secret = kindOf<core.Secret>("v1 Secret");
export const Service = kindOf<core.Service>("v1 Service");
export const ServiceAccount = kindOf<core.ServiceAccount>("v1 ServiceAccount");
export const CustomResourceDefinition = kindOf<apiextensions.CustomResourceDefinition>(
  "apiextensions.k8s.io/v1 CustomResourceDefinition",
);
export const ControllerRevision = kindOf<apps.ControllerRevision>("apps/v1 ControllerRevision");
export const DaemonSet = kindOf<apps.DaemonSet>("apps/v1 DaemonSet");
export const Deployment = kindOf<apps.Deployment>("apps/v1 Deployment");
export const ReplicaSet = kindOf<apps.ReplicaSet>("apps/v1 ReplicaSet");
export const StatefulSet = kindOf<apps.StatefulSet>("apps/v1 StatefulSet");
export const HorizontalPodAutoscaler = kindOf<autoscaling.HorizontalPodAutoscaler>(
  "autoscaling/v2 HorizontalPodAutoscaler",
);
export const CronJob = kindOf<batch.CronJob>("batch/v1 CronJob");
export const Job = kindOf<batch.Job>("batch/v1 Job");
export const CertificateSigningRequest = kindOf<certificates.CertificateSigningRequest>(
  "certificates.k8s.io/v1 CertificateSigningRequest",
);
export const SubjectAccessReview = kindOf<authorization.SubjectAccessReview>(
  "authorization.k8s.io/v1 SubjectAccessReview",
);
export const Lease = kindOf<coordination.Lease>("coordination.k8s.io/v1 Lease");
export const EndpointSlice = kindOf<discovery.EndpointSlice>("discovery.k8s.io/v1 EndpointSlice");
export const Event = kindOf<events.Event>("events.k8s.io/v1 Event");
export const ServiceCIDR = kindOf<networking.ServiceCIDR>("networking.k8s.io/v1 ServiceCIDR");
export const IPAddress = kindOf<networking.IPAddress>("networking.k8s.io/v1 IPAddress");
export const PodDisruptionBudget = kindOf<policy.PodDisruptionBudget>("policy/v1 PodDisruptionBudget");
export const ClusterRole = kindOf<rbac.ClusterRole>("rbac.authorization.k8s.io/v1 ClusterRole");
export const Role = kindOf<rbac.Role>("rbac.authorization.k8s.io/v1 Role");
export const RoleBinding = kindOf<rbac.RoleBinding>("rbac.authorization.k8s.io/v1 RoleBinding");
export const ResourceClaim = kindOf<resource.ResourceClaim>("resource.k8s.io/v1 ResourceClaim");
export const ResourceClaimTemplate = kindOf<resource.ResourceClaimTemplate>("resource.k8s.io/v1 ResourceClaimTemplate");
export const PriorityClass = kindOf<scheduling.PriorityClass>("scheduling.k8s.io/v1 PriorityClass");
export const StorageClass = kindOf<storage.StorageClass>("storage.k8s.io/v1 StorageClass");
export const VolumeAttachment = kindOf<storage.VolumeAttachment>("storage.k8s.io/v1 VolumeAttachment");
export const ValidatingAdmissionPolicy = kindOf<admissionregistration.ValidatingAdmissionPolicy>(
  "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy",
);
