/**
 * The built-in kinds by their names, each with the type of its objects: `client.of(kinds.Pod)`,
 * `kinds.ReplicaSet.group`. One table for all components; it loads none of the kinds' rules (those are `builtIn`).
 *
 * 1. In the order of discovery. Where two groups have a kind of the same name, the current one has the short name:
 *    `Event` is that of events.k8s.io, `HorizontalPodAutoscaler` that of autoscaling/v2.
 */
import { clusterWide, namespaced } from "./machinery/resource-name.ts";
import type * as admissionregistration from "./types/admissionregistration-v1.ts";
import type * as apiextensions from "./types/apiextensions-v1.ts";
import type * as apiregistration from "./types/apiregistration-v1.ts";
import type * as apps from "./types/apps-v1.ts";
import type * as authentication from "./types/authentication-v1.ts";
import type * as authorization from "./types/authorization-v1.ts";
import type * as autoscalingV1 from "./types/autoscaling-v1.ts";
import type * as autoscaling from "./types/autoscaling-v2.ts";
import type * as batch from "./types/batch-v1.ts";
import type * as certificates from "./types/certificates-v1.ts";
import type * as coordination from "./types/coordination-v1.ts";
import type * as core from "./types/core-v1.ts";
import type * as discovery from "./types/discovery-v1.ts";
import type * as events from "./types/events-v1.ts";
import type * as flowcontrol from "./types/flowcontrol-v1.ts";
import type * as networking from "./types/networking-v1.ts";
import type * as node from "./types/node-v1.ts";
import type * as policy from "./types/policy-v1.ts";
import type * as rbac from "./types/rbac-v1.ts";
import type * as resource from "./types/resource-v1.ts";
import type * as scheduling from "./types/scheduling-v1.ts";
import type * as storage from "./types/storage-v1.ts";

export const kinds = {
  Binding: namespaced<core.Binding>("v1", "Binding", "bindings"),
  ComponentStatus: clusterWide<core.ComponentStatus>("v1", "ComponentStatus", "componentstatuses"),
  ConfigMap: namespaced<core.ConfigMap>("v1", "ConfigMap", "configmaps"),
  Endpoints: namespaced<core.Endpoints>("v1", "Endpoints", "endpoints"),
  CoreEvent: namespaced<core.Event>("v1", "Event", "events"),
  LimitRange: namespaced<core.LimitRange>("v1", "LimitRange", "limitranges"),
  Namespace: clusterWide<core.Namespace>("v1", "Namespace", "namespaces"),
  Node: clusterWide<core.Node>("v1", "Node", "nodes"),
  PersistentVolumeClaim: namespaced<core.PersistentVolumeClaim>(
    "v1",
    "PersistentVolumeClaim",
    "persistentvolumeclaims",
  ),
  PersistentVolume: clusterWide<core.PersistentVolume>("v1", "PersistentVolume", "persistentvolumes"),
  Pod: namespaced<core.Pod>("v1", "Pod", "pods"),
  PodTemplate: namespaced<core.PodTemplate>("v1", "PodTemplate", "podtemplates"),
  ReplicationController: namespaced<core.ReplicationController>(
    "v1",
    "ReplicationController",
    "replicationcontrollers",
  ),
  ResourceQuota: namespaced<core.ResourceQuota>("v1", "ResourceQuota", "resourcequotas"),
  Secret: namespaced<core.Secret>("v1", "Secret", "secrets"),
  ServiceAccount: namespaced<core.ServiceAccount>("v1", "ServiceAccount", "serviceaccounts"),
  Service: namespaced<core.Service>("v1", "Service", "services"),

  APIService: clusterWide<apiregistration.APIService>("apiregistration.k8s.io/v1", "APIService", "apiservices"),

  ControllerRevision: namespaced<apps.ControllerRevision>("apps/v1", "ControllerRevision", "controllerrevisions"),
  DaemonSet: namespaced<apps.DaemonSet>("apps/v1", "DaemonSet", "daemonsets"),
  Deployment: namespaced<apps.Deployment>("apps/v1", "Deployment", "deployments"),
  ReplicaSet: namespaced<apps.ReplicaSet>("apps/v1", "ReplicaSet", "replicasets"),
  StatefulSet: namespaced<apps.StatefulSet>("apps/v1", "StatefulSet", "statefulsets"),

  Event: namespaced<events.Event>("events.k8s.io/v1", "Event", "events"),

  SelfSubjectReview: clusterWide<authentication.SelfSubjectReview>(
    "authentication.k8s.io/v1",
    "SelfSubjectReview",
    "selfsubjectreviews",
  ),
  TokenReview: clusterWide<authentication.TokenReview>("authentication.k8s.io/v1", "TokenReview", "tokenreviews"),

  LocalSubjectAccessReview: namespaced<authorization.LocalSubjectAccessReview>(
    "authorization.k8s.io/v1",
    "LocalSubjectAccessReview",
    "localsubjectaccessreviews",
  ),
  SelfSubjectAccessReview: clusterWide<authorization.SelfSubjectAccessReview>(
    "authorization.k8s.io/v1",
    "SelfSubjectAccessReview",
    "selfsubjectaccessreviews",
  ),
  SelfSubjectRulesReview: clusterWide<authorization.SelfSubjectRulesReview>(
    "authorization.k8s.io/v1",
    "SelfSubjectRulesReview",
    "selfsubjectrulesreviews",
  ),
  SubjectAccessReview: clusterWide<authorization.SubjectAccessReview>(
    "authorization.k8s.io/v1",
    "SubjectAccessReview",
    "subjectaccessreviews",
  ),

  HorizontalPodAutoscaler: namespaced<autoscaling.HorizontalPodAutoscaler>(
    "autoscaling/v2",
    "HorizontalPodAutoscaler",
    "horizontalpodautoscalers",
  ),

  HorizontalPodAutoscalerV1: namespaced<autoscalingV1.HorizontalPodAutoscaler>(
    "autoscaling/v1",
    "HorizontalPodAutoscaler",
    "horizontalpodautoscalers",
  ),

  CronJob: namespaced<batch.CronJob>("batch/v1", "CronJob", "cronjobs"),
  Job: namespaced<batch.Job>("batch/v1", "Job", "jobs"),

  CertificateSigningRequest: clusterWide<certificates.CertificateSigningRequest>(
    "certificates.k8s.io/v1",
    "CertificateSigningRequest",
    "certificatesigningrequests",
  ),

  IngressClass: clusterWide<networking.IngressClass>("networking.k8s.io/v1", "IngressClass", "ingressclasses"),
  Ingress: namespaced<networking.Ingress>("networking.k8s.io/v1", "Ingress", "ingresses"),
  IPAddress: clusterWide<networking.IPAddress>("networking.k8s.io/v1", "IPAddress", "ipaddresses"),
  NetworkPolicy: namespaced<networking.NetworkPolicy>("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"),
  ServiceCIDR: clusterWide<networking.ServiceCIDR>("networking.k8s.io/v1", "ServiceCIDR", "servicecidrs"),

  PodDisruptionBudget: namespaced<policy.PodDisruptionBudget>(
    "policy/v1",
    "PodDisruptionBudget",
    "poddisruptionbudgets",
  ),

  ClusterRoleBinding: clusterWide<rbac.ClusterRoleBinding>(
    "rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding",
    "clusterrolebindings",
  ),
  ClusterRole: clusterWide<rbac.ClusterRole>("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles"),
  RoleBinding: namespaced<rbac.RoleBinding>("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"),
  Role: namespaced<rbac.Role>("rbac.authorization.k8s.io/v1", "Role", "roles"),

  CSIDriver: clusterWide<storage.CSIDriver>("storage.k8s.io/v1", "CSIDriver", "csidrivers"),
  CSINode: clusterWide<storage.CSINode>("storage.k8s.io/v1", "CSINode", "csinodes"),
  CSIStorageCapacity: namespaced<storage.CSIStorageCapacity>(
    "storage.k8s.io/v1",
    "CSIStorageCapacity",
    "csistoragecapacities",
  ),
  StorageClass: clusterWide<storage.StorageClass>("storage.k8s.io/v1", "StorageClass", "storageclasses"),
  VolumeAttachment: clusterWide<storage.VolumeAttachment>("storage.k8s.io/v1", "VolumeAttachment", "volumeattachments"),
  VolumeAttributesClass: clusterWide<storage.VolumeAttributesClass>(
    "storage.k8s.io/v1",
    "VolumeAttributesClass",
    "volumeattributesclasses",
  ),

  MutatingAdmissionPolicy: clusterWide<admissionregistration.MutatingAdmissionPolicy>(
    "admissionregistration.k8s.io/v1",
    "MutatingAdmissionPolicy",
    "mutatingadmissionpolicies",
  ),
  MutatingAdmissionPolicyBinding: clusterWide<admissionregistration.MutatingAdmissionPolicyBinding>(
    "admissionregistration.k8s.io/v1",
    "MutatingAdmissionPolicyBinding",
    "mutatingadmissionpolicybindings",
  ),
  MutatingWebhookConfiguration: clusterWide<admissionregistration.MutatingWebhookConfiguration>(
    "admissionregistration.k8s.io/v1",
    "MutatingWebhookConfiguration",
    "mutatingwebhookconfigurations",
  ),
  ValidatingAdmissionPolicy: clusterWide<admissionregistration.ValidatingAdmissionPolicy>(
    "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicy",
    "validatingadmissionpolicies",
  ),
  ValidatingAdmissionPolicyBinding: clusterWide<admissionregistration.ValidatingAdmissionPolicyBinding>(
    "admissionregistration.k8s.io/v1",
    "ValidatingAdmissionPolicyBinding",
    "validatingadmissionpolicybindings",
  ),
  ValidatingWebhookConfiguration: clusterWide<admissionregistration.ValidatingWebhookConfiguration>(
    "admissionregistration.k8s.io/v1",
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
  ),

  CustomResourceDefinition: clusterWide<apiextensions.CustomResourceDefinition>(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    "customresourcedefinitions",
  ),

  PriorityClass: clusterWide<scheduling.PriorityClass>("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses"),

  Lease: namespaced<coordination.Lease>("coordination.k8s.io/v1", "Lease", "leases"),

  RuntimeClass: clusterWide<node.RuntimeClass>("node.k8s.io/v1", "RuntimeClass", "runtimeclasses"),

  EndpointSlice: namespaced<discovery.EndpointSlice>("discovery.k8s.io/v1", "EndpointSlice", "endpointslices"),

  DeviceClass: clusterWide<resource.DeviceClass>("resource.k8s.io/v1", "DeviceClass", "deviceclasses"),
  ResourceClaim: namespaced<resource.ResourceClaim>("resource.k8s.io/v1", "ResourceClaim", "resourceclaims"),
  ResourceClaimTemplate: namespaced<resource.ResourceClaimTemplate>(
    "resource.k8s.io/v1",
    "ResourceClaimTemplate",
    "resourceclaimtemplates",
  ),
  ResourceSlice: clusterWide<resource.ResourceSlice>("resource.k8s.io/v1", "ResourceSlice", "resourceslices"),

  FlowSchema: clusterWide<flowcontrol.FlowSchema>("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "flowschemas"),
  PriorityLevelConfiguration: clusterWide<flowcontrol.PriorityLevelConfiguration>(
    "flowcontrol.apiserver.k8s.io/v1",
    "PriorityLevelConfiguration",
    "prioritylevelconfigurations",
  ),
};
