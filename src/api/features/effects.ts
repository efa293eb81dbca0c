/**
 * Which gates do something here. A gate that is set away from its default and does nothing is reported: nobody believes
 * that a feature is on or off that is not.
 */
import type { Features } from "./features.ts";
import { gatedFields } from "./gated-fields.ts";

export type Component = "kube-apiserver" | "kube-controller-manager" | "kube-scheduler" | "kubelet" | "kube-proxy";

/** Gates of fields act in the API server. These act besides. */
const ACTING: Readonly<Record<Component, readonly string[]>> = {
  "kube-apiserver": [
    "ClusterTrustBundle",
    "CoordinatedLeaderElection",
    "CrossNamespaceVolumeDataSource",
    "DRAResourceClaimGranularStatusAuthorization",
    "DRAResourcePoolStatus",
    "GenericWorkload",
    "HPAScaleToZero",
    "PodCertificateRequest",
    "PodTopologyLabelsAdmission",
    "StorageVersionMigrator",
    "WatchList",
    "WorkloadAwarePreemption",
    "WorkloadWithJob",
  ],
  "kube-controller-manager": [
    "ClusterTrustBundle",
    "DRADeviceTaintRules",
    "DRADeviceTaints",
    "GenericWorkload",
    "HPAConfigurableTolerance",
    "HPAScaleToZero",
    "PodCertificateRequest",
    "StorageVersionAPI",
    "StorageVersionMigrator",
    "WorkloadWithJob",
  ],
  "kube-scheduler": [
    "DRAAdminAccess",
    "DRAConsumableCapacity",
    "DRADeviceBindingConditions",
    "DRADeviceTaintRules",
    "DRADeviceTaints",
    "DRAExtendedResource",
    "DRAPartitionableDevices",
    "DRAPrioritizedList",
    "DRASchedulerFilterTimeout",
    "DynamicResourceAllocation",
    "GangScheduling",
    "GenericWorkload",
    "NodeDeclaredFeatures",
    "TopologyAwareWorkloadScheduling",
    "WorkloadAwarePreemption",
  ],
  kubelet: [
    "CSIVolumeHealth",
    "DynamicResourceAllocation",
    "ExtendWebSocketsToKubelet",
    "GracefulNodeShutdown",
    "KubeletCrashLoopBackOffMax",
    "KubeletEnsureSecretPulledImages",
    "KubeletPodResourcesDynamicResources",
    "KubeletPodResourcesGet",
    "MemoryQoS",
    "MutableCSINodeAllocatableCount",
    "NodeDeclaredFeatures",
    "ReduceDefaultCrashLoopBackOffDecay",
    "ResourceHealthStatus",
    "ResourceHealthStatusMessage",
    "SELinuxMount",
    "UserNamespacesSupport",
  ],
  "kube-proxy": [],
};

export function isComponent(name: string): name is Component {
  return Object.hasOwn(ACTING, name);
}

/** Sentences for the log of a component. */
export function withoutEffect({ changed }: Features, components: readonly Component[]): readonly string[] {
  const acting = new Set(components.flatMap((component) => [...actingIn(component)]));
  const idle = changed.filter((gate) => !acting.has(gate));
  if (idle.length === 0) return [];
  const [are, have] = idle.length === 1 ? ["feature gate", "has"] : ["feature gates", "have"];
  return [`${are} ${idle.join(", ")} ${have} no effect in this component`];
}

export function actingIn(component: Component): ReadonlySet<string> {
  const fields = component === "kube-apiserver" ? [...gatedFields.values()].flat().map(({ gate }) => gate) : [];
  return new Set([...fields, ...ACTING[component]]);
}
