/**
 * All plugins, in the order in which they run, and whether they are on where nobody says so.
 *
 * Webhooks and policies have their place here too: `make` is absent where a plugin is not part of this server yet.
 */
import type { JsonObject } from "#api";
import type { Authorizer } from "../authz/authorizer.ts";
import type { Resources } from "../rest/resources.ts";
import type { ServerContext } from "../rest/server-context.ts";
import { alwaysAdmit, alwaysDeny } from "./always.ts";
import { alwaysPullImages } from "./always-pull-images.ts";
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from "./certificates.ts";
import { defaultIngressClass } from "./default-ingress-class.ts";
import { defaultStorageClass } from "./default-storage-class.ts";
import { defaultTolerationSeconds } from "./default-toleration-seconds.ts";
import { denyServiceExternalIPs } from "./deny-service-external-ips.ts";
import { eventRateLimit } from "./event-rate-limit.ts";
import { extendedResourceToleration } from "./extended-resource-toleration.ts";
import { limitPodHardAntiAffinityTopology } from "./limit-pod-hard-anti-affinity-topology.ts";
import { limitRanger } from "./limit-ranger.ts";
import { namespaceAutoProvision } from "./namespace-auto-provision.ts";
import { namespaceExists } from "./namespace-exists.ts";
import { namespaceLifecycle } from "./namespace-lifecycle.ts";
import { nodeRestriction } from "./node-restriction.ts";
import { ownerReferencesPermissionEnforcement } from "./owner-references-permission-enforcement.ts";
import { persistentVolumeClaimResize } from "./persistent-volume-claim-resize.ts";
import type { AdmissionPlugin } from "./plugin.ts";
import { podNodeSelector } from "./pod-node-selector.ts";
import { podResizeValidator } from "./pod-resize-validator.ts";
import { podSecurity } from "./pod-security.ts";
import { podTolerationRestriction } from "./pod-toleration-restriction.ts";
import { podTopologyLabels } from "./pod-topology-labels.ts";
import { mutatingAdmissionPolicy, validatingAdmissionPolicy } from "./policies/index.ts";
import { priority } from "./priority.ts";
import { resourceQuota } from "./resource-quota.ts";
import { runtimeClass } from "./runtime-class.ts";
import { serviceAccount } from "./service-account.ts";
import { storageObjectInUseProtection } from "./storage-object-in-use-protection.ts";
import { taintNodesByCondition } from "./taint-nodes-by-condition.ts";
import { mutatingAdmissionWebhook, validatingAdmissionWebhook } from "./webhooks/index.ts";

/** What plugins are made with. */
export interface PluginServices {
  readonly resources: Resources;
  /** Asked for when a request comes: the chain is a part of it. */
  context(): ServerContext;
  readonly authorize: Authorizer;
  /** A controller makes the account `default` in each namespace. */
  readonly requireDefaultAccount: boolean;
}

export interface PluginEntry {
  readonly name: string;
  readonly byDefault: boolean;
  make?(services: PluginServices, configuration: JsonObject | undefined): AdmissionPlugin;
}

const on = (name: string, make?: PluginEntry["make"]): PluginEntry => ({
  name,
  byDefault: true,
  ...(make && { make }),
});
const off = (name: string, make?: PluginEntry["make"]): PluginEntry => ({ ...on(name, make), byDefault: false });

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
  off("ImagePolicyWebhook"),
  on("PodSecurity", (_, configuration) => podSecurity(configuration)),
  off("PodNodeSelector", (_, configuration) => podNodeSelector(configuration)),
  on("Priority", () => priority),
  on("DefaultTolerationSeconds", () => defaultTolerationSeconds),
  off("PodTolerationRestriction", (_, configuration) => podTolerationRestriction(configuration)),
  off("EventRateLimit", (_, configuration) => eventRateLimit(configuration)),
  off("ExtendedResourceToleration", () => extendedResourceToleration),
  on("DefaultStorageClass", () => defaultStorageClass),
  on("StorageObjectInUseProtection", () => storageObjectInUseProtection),
  off("OwnerReferencesPermissionEnforcement", ownerReferencesPermissionEnforcement),
  on("PersistentVolumeClaimResize", () => persistentVolumeClaimResize),
  on("RuntimeClass", () => runtimeClass),
  on("CertificateApproval", ({ authorize }) => certificateApproval(authorize)),
  on("CertificateSigning", ({ authorize }) => certificateSigning(authorize)),
  on("ClusterTrustBundleAttest"),
  on("CertificateSubjectRestriction", () => certificateSubjectRestriction),
  on("DefaultIngressClass", () => defaultIngressClass),
  off("DenyServiceExternalIPs", () => denyServiceExternalIPs),
  on("PodTopologyLabels", () => podTopologyLabels),
  on("PodGroupWorkloadExists"),
  on("NodeDeclaredFeatureValidator"),
  on("JobValidation"),
  on("PodResizeValidator", () => podResizeValidator),
  on("MutatingAdmissionPolicy", mutatingAdmissionPolicy),
  on("MutatingAdmissionWebhook", mutatingAdmissionWebhook),
  on("ValidatingAdmissionPolicy", validatingAdmissionPolicy),
  on("ValidatingAdmissionWebhook", validatingAdmissionWebhook),
  on("ResourceQuota", resourceQuota),
  off("AlwaysDeny", () => alwaysDeny),
];
