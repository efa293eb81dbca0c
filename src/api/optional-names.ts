/**
 * Kinds that are served only where `--runtime-config` asks for them, by their names, as `kinds` has the others: those
 * that components use, each in the version in which they use it.
 */
import { clusterWide, namespaced } from "./machinery/resource-name.ts";
import type * as apiserverinternal from "./types/apiserverinternal-v1alpha1.ts";
import type * as certificates from "./types/certificates-v1beta1.ts";
import type * as coordination from "./types/coordination-v1beta1.ts";
import type * as resource from "./types/resource-v1alpha3.ts";
import type * as scheduling from "./types/scheduling-v1alpha2.ts";
import type * as storagemigration from "./types/storagemigration-v1beta1.ts";

export const optional = {
  ClusterTrustBundle: clusterWide<certificates.ClusterTrustBundle>(
    "certificates.k8s.io/v1beta1",
    "ClusterTrustBundle",
    "clustertrustbundles",
  ),
  LeaseCandidate: namespaced<coordination.LeaseCandidate>(
    "coordination.k8s.io/v1beta1",
    "LeaseCandidate",
    "leasecandidates",
  ),
  PodGroup: namespaced<scheduling.PodGroup>("scheduling.k8s.io/v1alpha2", "PodGroup", "podgroups"),
  Workload: namespaced<scheduling.Workload>("scheduling.k8s.io/v1alpha2", "Workload", "workloads"),
  PodCertificateRequest: namespaced<certificates.PodCertificateRequest>(
    "certificates.k8s.io/v1beta1",
    "PodCertificateRequest",
    "podcertificaterequests",
  ),
  DeviceTaintRule: clusterWide<resource.DeviceTaintRule>(
    "resource.k8s.io/v1beta2",
    "DeviceTaintRule",
    "devicetaintrules",
  ),
  ResourcePoolStatusRequest: clusterWide<resource.ResourcePoolStatusRequest>(
    "resource.k8s.io/v1alpha3",
    "ResourcePoolStatusRequest",
    "resourcepoolstatusrequests",
  ),
  StorageVersion: clusterWide<apiserverinternal.StorageVersion>(
    "internal.apiserver.k8s.io/v1alpha1",
    "StorageVersion",
    "storageversions",
  ),
  StorageVersionMigration: clusterWide<storagemigration.StorageVersionMigration>(
    "storagemigration.k8s.io/v1beta1",
    "StorageVersionMigration",
    "storageversionmigrations",
  ),
};
