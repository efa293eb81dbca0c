/** The kinds that controllers read and write. */
import {
  type admissionregistration,
  type apiextensions,
  type apps,
  type authorization,
  type autoscaling,
  type batch,
  builtInKind,
  type certificates,
  type coordination,
  type core,
  type discovery,
  type events,
  type networking,
  type policy,
  type rbac,
  type resource,
  type scheduling,
  type storage,
} from "#api";

export const ConfigMap = builtInKind<core.ConfigMap>("v1 ConfigMap");
export const Endpoints = builtInKind<core.Endpoints>("v1 Endpoints");
export const LimitRange = builtInKind<core.LimitRange>("v1 LimitRange");
export const Namespace = builtInKind<core.Namespace>("v1 Namespace");
export const Node = builtInKind<core.Node>("v1 Node");
export const PersistentVolume = builtInKind<core.PersistentVolume>("v1 PersistentVolume");
export const PersistentVolumeClaim = builtInKind<core.PersistentVolumeClaim>("v1 PersistentVolumeClaim");
export const Pod = builtInKind<core.Pod>("v1 Pod");
export const ReplicationController = builtInKind<core.ReplicationController>("v1 ReplicationController");
export const ResourceQuota = builtInKind<core.ResourceQuota>("v1 ResourceQuota");
export const Secret = builtInKind<core.Secret>("v1 Secret");
export const Service = builtInKind<core.Service>("v1 Service");
export const ServiceAccount = builtInKind<core.ServiceAccount>("v1 ServiceAccount");
export const CustomResourceDefinition = builtInKind<apiextensions.CustomResourceDefinition>(
  "apiextensions.k8s.io/v1 CustomResourceDefinition",
);
export const ControllerRevision = builtInKind<apps.ControllerRevision>("apps/v1 ControllerRevision");
export const DaemonSet = builtInKind<apps.DaemonSet>("apps/v1 DaemonSet");
export const Deployment = builtInKind<apps.Deployment>("apps/v1 Deployment");
export const ReplicaSet = builtInKind<apps.ReplicaSet>("apps/v1 ReplicaSet");
export const StatefulSet = builtInKind<apps.StatefulSet>("apps/v1 StatefulSet");
export const HorizontalPodAutoscaler = builtInKind<autoscaling.HorizontalPodAutoscaler>(
  "autoscaling/v2 HorizontalPodAutoscaler",
);
export const CronJob = builtInKind<batch.CronJob>("batch/v1 CronJob");
export const Job = builtInKind<batch.Job>("batch/v1 Job");
export const CertificateSigningRequest = builtInKind<certificates.CertificateSigningRequest>(
  "certificates.k8s.io/v1 CertificateSigningRequest",
);
export const SubjectAccessReview = builtInKind<authorization.SubjectAccessReview>(
  "authorization.k8s.io/v1 SubjectAccessReview",
);
export const Lease = builtInKind<coordination.Lease>("coordination.k8s.io/v1 Lease");
export const EndpointSlice = builtInKind<discovery.EndpointSlice>("discovery.k8s.io/v1 EndpointSlice");
export const Event = builtInKind<events.Event>("events.k8s.io/v1 Event");
export const ServiceCIDR = builtInKind<networking.ServiceCIDR>("networking.k8s.io/v1 ServiceCIDR");
export const IPAddress = builtInKind<networking.IPAddress>("networking.k8s.io/v1 IPAddress");
export const PodDisruptionBudget = builtInKind<policy.PodDisruptionBudget>("policy/v1 PodDisruptionBudget");
export const ClusterRole = builtInKind<rbac.ClusterRole>("rbac.authorization.k8s.io/v1 ClusterRole");
export const Role = builtInKind<rbac.Role>("rbac.authorization.k8s.io/v1 Role");
export const RoleBinding = builtInKind<rbac.RoleBinding>("rbac.authorization.k8s.io/v1 RoleBinding");
export const ResourceClaim = builtInKind<resource.ResourceClaim>("resource.k8s.io/v1 ResourceClaim");
export const ResourceClaimTemplate = builtInKind<resource.ResourceClaimTemplate>(
  "resource.k8s.io/v1 ResourceClaimTemplate",
);
export const PriorityClass = builtInKind<scheduling.PriorityClass>("scheduling.k8s.io/v1 PriorityClass");
export const StorageClass = builtInKind<storage.StorageClass>("storage.k8s.io/v1 StorageClass");
export const VolumeAttachment = builtInKind<storage.VolumeAttachment>("storage.k8s.io/v1 VolumeAttachment");
export const ValidatingAdmissionPolicy = builtInKind<admissionregistration.ValidatingAdmissionPolicy>(
  "admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy",
);
