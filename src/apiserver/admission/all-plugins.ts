/** All plugins in the order in which they run, and whether they are on by default. It is the order of Kubernetes. */
import type { JsonObject } from "#api";
import type { AdmissionPlugin } from "./chain/plugin.ts";
import type { PluginServices } from "./chain/plugin-services.ts";
import { alwaysAdmit, alwaysDeny } from "./plugins/always.ts";
import { defaultIngressClass } from "./plugins/default-classes/default-ingress-class.ts";
import { defaultStorageClass } from "./plugins/default-classes/default-storage-class.ts";
import { denyServiceExternalIPs } from "./plugins/deny-service-external-ips.ts";
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
} from "./plugins/identity/certificates.ts";
import { clusterTrustBundleAttest } from "./plugins/identity/cluster-trust-bundle-attest.ts";
import { ownerReferencesPermissionEnforcement } from "./plugins/identity/owner-references-permission-enforcement.ts";
import { serviceAccount } from "./plugins/identity/service-account.ts";
import { imagePolicyWebhook } from "./plugins/image-policy/image-policy-webhook.ts";
import { eventRateLimit } from "./plugins/limits/event-rate-limit.ts";
import { limitRanger } from "./plugins/limits/limit-ranger.ts";
import { resourceQuota } from "./plugins/limits/resource-quota.ts";
import { namespaceAutoProvision } from "./plugins/namespaces/namespace-auto-provision.ts";
import { namespaceExists } from "./plugins/namespaces/namespace-exists.ts";
import { namespaceLifecycle } from "./plugins/namespaces/namespace-lifecycle.ts";
import { nodeRestriction } from "./plugins/nodes/node-restriction.ts";
import { taintNodesByCondition } from "./plugins/nodes/taint-nodes-by-condition.ts";
import { podSecurity } from "./plugins/pod-security/pod-security.ts";
import { alwaysPullImages } from "./plugins/pods/always-pull-images.ts";
import { defaultTolerationSeconds } from "./plugins/pods/default-toleration-seconds.ts";
import { extendedResourceToleration } from "./plugins/pods/extended-resource-toleration.ts";
import { limitPodHardAntiAffinityTopology } from "./plugins/pods/limit-pod-hard-anti-affinity-topology.ts";
import { nodeDeclaredFeatureValidator } from "./plugins/pods/node-declared-feature-validator.ts";
import { podNodeSelector } from "./plugins/pods/pod-node-selector.ts";
import { podResizeValidator } from "./plugins/pods/pod-resize-validator.ts";
import { podTolerationRestriction } from "./plugins/pods/pod-toleration-restriction.ts";
import { podTopologyLabels } from "./plugins/pods/pod-topology-labels.ts";
import { priority } from "./plugins/pods/priority.ts";
import { runtimeClass } from "./plugins/pods/runtime-class.ts";
import { persistentVolumeClaimResize } from "./plugins/storage/persistent-volume-claim-resize.ts";
import { storageObjectInUseProtection } from "./plugins/storage/storage-object-in-use-protection.ts";
import { jobValidation } from "./plugins/workloads/job-validation.ts";
import { podGroupProtection } from "./plugins/workloads/pod-group-protection.ts";
import { podGroupWorkloadExists } from "./plugins/workloads/pod-group-workload-exists.ts";
import { mutatingAdmissionPolicy, validatingAdmissionPolicy } from "./policies/index.ts";
import { mutatingAdmissionWebhook, validatingAdmissionWebhook } from "./webhooks/index.ts";

export interface PluginEntry {
  readonly name: string;
  readonly byDefault: boolean;
  make(services: PluginServices, configuration: JsonObject | undefined): AdmissionPlugin | Promise<AdmissionPlugin>;
}

const on = (name: string, make: PluginEntry["make"]): PluginEntry => ({ name, byDefault: true, make });
const off = (name: string, make: PluginEntry["make"]): PluginEntry => ({ name, byDefault: false, make });

/** With none of these gates on, the plugin has no rules. */
const gated =
  (gates: readonly string[], make: (services: PluginServices) => AdmissionPlugin): PluginEntry["make"] =>
  (services) => {
    const plugin = make(services);
    return gates.some((gate) => services.featureEnabled(gate)) ? plugin : { name: plugin.name };
  };

export const allPlugins: readonly PluginEntry[] = [
  off("AlwaysAdmit", () => alwaysAdmit),
  off("NamespaceAutoProvision", namespaceAutoProvision),
  on("NamespaceLifecycle", () => namespaceLifecycle),
  off("NamespaceExists", () => namespaceExists),
  off("LimitPodHardAntiAffinityTopology", () => limitPodHardAntiAffinityTopology),
  on("LimitRanger", () => limitRanger),
  on("ServiceAccount", ({ requireDefaultAccount }) => serviceAccount({ requireDefault: requireDefaultAccount })),
  off("NodeRestriction", ({ authorize }) => nodeRestriction(authorize)),
  on("TaintNodesByCondition", () => taintNodesByCondition),
  off("AlwaysPullImages", () => alwaysPullImages),
  off("ImagePolicyWebhook", imagePolicyWebhook),
  on("PodSecurity", (_, configuration) => podSecurity(configuration)),
  off("PodNodeSelector", (_, configuration) => podNodeSelector(configuration)),
  on("Priority", ({ featureEnabled }) => priority(featureEnabled("WorkloadAwarePreemption"))),
  on("DefaultTolerationSeconds", ({ tolerationSeconds }) => defaultTolerationSeconds(tolerationSeconds)),
  off("PodTolerationRestriction", (_, configuration) => podTolerationRestriction(configuration)),
  off("EventRateLimit", (_, configuration) => eventRateLimit(configuration)),
  off("ExtendedResourceToleration", () => extendedResourceToleration),
  on("DefaultStorageClass", () => defaultStorageClass),
  on("StorageObjectInUseProtection", () => storageObjectInUseProtection),
  on(
    "PodGroupProtection",
    gated(["GenericWorkload"], () => podGroupProtection),
  ),
  off("OwnerReferencesPermissionEnforcement", ownerReferencesPermissionEnforcement),
  on("PersistentVolumeClaimResize", () => persistentVolumeClaimResize),
  on("RuntimeClass", () => runtimeClass),
  on("CertificateApproval", ({ authorize }) => certificateApproval(authorize)),
  on("CertificateSigning", ({ authorize }) => certificateSigning(authorize)),
  on(
    "ClusterTrustBundleAttest",
    gated(["ClusterTrustBundle"], ({ authorize }) => clusterTrustBundleAttest(authorize)),
  ),
  on("CertificateSubjectRestriction", () => certificateSubjectRestriction),
  on("DefaultIngressClass", () => defaultIngressClass),
  off("DenyServiceExternalIPs", () => denyServiceExternalIPs),
  on(
    "PodTopologyLabels",
    gated(["PodTopologyLabelsAdmission"], () => podTopologyLabels),
  ),
  on(
    "PodGroupWorkloadExists",
    gated(["GenericWorkload"], () => podGroupWorkloadExists),
  ),
  on(
    "NodeDeclaredFeatureValidator",
    gated(["NodeDeclaredFeatures"], () => nodeDeclaredFeatureValidator),
  ),
  on(
    "JobValidation",
    gated(["GenericWorkload", "WorkloadWithJob"], () => jobValidation),
  ),
  on(
    "PodResizeValidator",
    gated(["InPlacePodVerticalScaling"], () => podResizeValidator),
  ),
  on("MutatingAdmissionPolicy", mutatingAdmissionPolicy),
  on("MutatingAdmissionWebhook", mutatingAdmissionWebhook),
  on("ValidatingAdmissionPolicy", validatingAdmissionPolicy),
  on("ValidatingAdmissionWebhook", validatingAdmissionWebhook),
  on("ResourceQuota", resourceQuota),
  off("AlwaysDeny", () => alwaysDeny),
];
