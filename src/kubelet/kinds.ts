/** The resources that a kubelet reads and writes: their names alone, for it needs none of their rules. */
import type { authentication, certificates, coordination, core, events, node, storage } from "#api";
import type { ResourceOf } from "#client";

const namespaced = (apiVersion: string, kind: string, plural: string) => ({
  apiVersion,
  kind,
  plural,
  namespaced: true,
});
const global = (apiVersion: string, kind: string, plural: string) => ({ apiVersion, kind, plural, namespaced: false });

export const Pod: ResourceOf<core.Pod> = namespaced("v1", "Pod", "pods");
export const ConfigMap: ResourceOf<core.ConfigMap> = namespaced("v1", "ConfigMap", "configmaps");
export const Secret: ResourceOf<core.Secret> = namespaced("v1", "Secret", "secrets");
export const Service: ResourceOf<core.Service> = namespaced("v1", "Service", "services");
export const ServiceAccount: ResourceOf<core.ServiceAccount> = namespaced("v1", "ServiceAccount", "serviceaccounts");
export const PersistentVolumeClaim: ResourceOf<core.PersistentVolumeClaim> = namespaced(
  "v1",
  "PersistentVolumeClaim",
  "persistentvolumeclaims",
);
export const PersistentVolume: ResourceOf<core.PersistentVolume> = global(
  "v1",
  "PersistentVolume",
  "persistentvolumes",
);
export const Node: ResourceOf<core.Node> = global("v1", "Node", "nodes");
export const Lease: ResourceOf<coordination.Lease> = namespaced("coordination.k8s.io/v1", "Lease", "leases");
export const Event: ResourceOf<events.Event> = namespaced("events.k8s.io/v1", "Event", "events");
export const RuntimeClass: ResourceOf<node.RuntimeClass> = global("node.k8s.io/v1", "RuntimeClass", "runtimeclasses");
export const CSIDriver: ResourceOf<storage.CSIDriver> = global("storage.k8s.io/v1", "CSIDriver", "csidrivers");
export const CertificateSigningRequest: ResourceOf<certificates.CertificateSigningRequest> = global(
  "certificates.k8s.io/v1",
  "CertificateSigningRequest",
  "certificatesigningrequests",
);
export type TokenRequest = authentication.TokenRequest;
