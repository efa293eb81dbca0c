/** The resources that a kubelet reads and writes: their names alone, for it needs none of their rules. */
import type { authentication, certificates, coordination, core, events, node, storage } from "#api";
import { clusterWide, namespaced } from "#client";

export const Pod = namespaced<core.Pod>("v1", "Pod", "pods");
export const ConfigMap = namespaced<core.ConfigMap>("v1", "ConfigMap", "configmaps");
export const Secret = namespaced<core.Secret>("v1", "Secret", "secrets");
export const Service = namespaced<core.Service>("v1", "Service", "services");
export const ServiceAccount = namespaced<core.ServiceAccount>("v1", "ServiceAccount", "serviceaccounts");
export const PersistentVolumeClaim = namespaced<core.PersistentVolumeClaim>(
  "v1",
  "PersistentVolumeClaim",
  "persistentvolumeclaims",
);
export const PersistentVolume = clusterWide<core.PersistentVolume>("v1", "PersistentVolume", "persistentvolumes");
export const Node = clusterWide<core.Node>("v1", "Node", "nodes");
export const Lease = namespaced<coordination.Lease>("coordination.k8s.io/v1", "Lease", "leases");
export const Event = namespaced<events.Event>("events.k8s.io/v1", "Event", "events");
export const RuntimeClass = clusterWide<node.RuntimeClass>("node.k8s.io/v1", "RuntimeClass", "runtimeclasses");
export const CSIDriver = clusterWide<storage.CSIDriver>("storage.k8s.io/v1", "CSIDriver", "csidrivers");
export const CertificateSigningRequest = clusterWide<certificates.CertificateSigningRequest>(
  "certificates.k8s.io/v1",
  "CertificateSigningRequest",
  "certificatesigningrequests",
);
export type TokenRequest = authentication.TokenRequest;
