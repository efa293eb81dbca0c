/**
 * Which validations of metadata the strategies of Kubernetes' kinds call, where it is not the usual one: `update` and
 * `create` name those on update, in order, `none` says that there are none, `new` that only new objects are validated;
 * `plain` accepts finalizers without a domain.
 */
import { table } from "#base";
import type { MetaChecks, MetaPass } from "../machinery/kind.ts";

const BY_KIND: Readonly<Record<string, string>> = table({
  "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy": "create plain",
  "admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding": "create plain",
  "admissionregistration.k8s.io/v1/MutatingWebhookConfiguration": "create plain",
  "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy": "create plain",
  "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding": "create plain",
  "admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration": "create plain",
  "apiextensions.k8s.io/v1/CustomResourceDefinition": "update plain",
  "apiregistration.k8s.io/v1/APIService": "update create plain",
  "apps/v1/ControllerRevision": "update create",
  "batch/v1/Job": "create update",
  "certificates.k8s.io/v1/CertificateSigningRequest": "create update",
  "certificates.k8s.io/v1beta1/ClusterTrustBundle": "create update",
  "coordination.k8s.io/v1/Lease": "update plain",
  "coordination.k8s.io/v1beta1/LeaseCandidate": "update plain",
  "discovery.k8s.io/v1/EndpointSlice": "create",
  "flowcontrol.apiserver.k8s.io/v1/FlowSchema": "create",
  "flowcontrol.apiserver.k8s.io/v1/PriorityLevelConfiguration": "create",
  "internal.apiserver.k8s.io/v1alpha1/StorageVersion": "new",
  "networking.k8s.io/v1/Ingress": "update create",
  "networking.k8s.io/v1/IngressClass": "update create",
  "node.k8s.io/v1/RuntimeClass": "update plain",
  "policy/v1/PodDisruptionBudget": "none",
  "rbac.authorization.k8s.io/v1/ClusterRole": "create update",
  "rbac.authorization.k8s.io/v1/ClusterRoleBinding": "create update",
  "rbac.authorization.k8s.io/v1/Role": "create update",
  "rbac.authorization.k8s.io/v1/RoleBinding": "create update",
  "resource.k8s.io/v1/DeviceClass": "update create",
  "resource.k8s.io/v1/ResourceClaim": "update create",
  "resource.k8s.io/v1/ResourceClaimTemplate": "update create",
  "storage.k8s.io/v1/CSINode": "create",
  "storage.k8s.io/v1/CSIStorageCapacity": "create",
  "storage.k8s.io/v1/StorageClass": "create update",
  "storage.k8s.io/v1/VolumeAttachment": "create create",
  "storage.k8s.io/v1/VolumeAttributesClass": "create update",
  "storagemigration.k8s.io/v1beta1/StorageVersionMigration": "create update",
  "v1/ConfigMap": "update create",
  "v1/Endpoints": "update create",
  "v1/Event": "none",
  "v1/LimitRange": "create",
  "v1/Node": "create update",
  "v1/PersistentVolume": "create create",
  "v1/PersistentVolumeClaim": "create update",
  "v1/Pod": "update create",
  "v1/Secret": "update create",
  "v1/ServiceAccount": "update create",
});

/** The same for writes of the status. */
const OF_STATUS: Readonly<Record<string, string>> = table({
  "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy": "none",
  "batch/v1/CronJob": "none",
  "certificates.k8s.io/v1/CertificateSigningRequest": "create update",
  "flowcontrol.apiserver.k8s.io/v1/FlowSchema": "none",
  "flowcontrol.apiserver.k8s.io/v1/PriorityLevelConfiguration": "none",
  "internal.apiserver.k8s.io/v1alpha1/StorageVersion": "none",
  "policy/v1/PodDisruptionBudget": "none",
  "storage.k8s.io/v1/VolumeAttachment": "create create",
});

const USUAL = "update";

/** `key` is the apiVersion and the kind. */
export function metaChecksOf(key: string): MetaChecks {
  const words = BY_KIND[key] ?? USUAL;
  return {
    create: words !== "none",
    update: passesOf(words),
    status: passesOf(OF_STATUS[key] ?? USUAL),
    plainFinalizers: words.includes("plain"),
  };
}

function passesOf(words: string): readonly MetaPass[] {
  return words.split(" ").filter((word): word is MetaPass => word === "create" || word === "update");
}

export function unusualKinds(): readonly string[] {
  return [...Object.keys(BY_KIND), ...Object.keys(OF_STATUS)];
}
