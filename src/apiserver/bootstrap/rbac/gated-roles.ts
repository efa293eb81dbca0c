/** Roles that a fresh cluster has only where a feature gate is on. How to read them: role-text.ts. */

export interface GatedRoles {
  readonly gate: string;
  /** As controllerRoles. */
  readonly controllers?: string;
  /** As clusterRoles. */
  readonly cluster?: string;
  /** Further rules of the role of nodes, as the lines of a role. */
  readonly node?: string;
  /** Cluster roles, each with the group that it is bound to. */
  readonly groups?: Readonly<Record<string, string>>;
}

export const gatedRoles: readonly GatedRoles[] = [
  {
    gate: "ClusterTrustBundle",
    controllers: `
kube-apiserver-serving-clustertrustbundle-publisher
  attest certificates.k8s.io signers kubernetes.io/kube-apiserver-serving
  create,delete,list,update,watch certificates.k8s.io clustertrustbundles
  record-events`,
    cluster: `
system:cluster-trust-bundle-discovery
  read certificates.k8s.io clustertrustbundles`,
    groups: { "system:cluster-trust-bundle-discovery": "system:serviceaccounts" },
    node: `
  read certificates.k8s.io clustertrustbundles`,
  },
  {
    gate: "PodCertificateRequest",
    controllers: `
podcertificaterequestcleaner
  read,delete certificates.k8s.io podcertificaterequests`,
    node: `
  create,read certificates.k8s.io podcertificaterequests`,
  },
  {
    gate: "StorageVersionMigrator",
    controllers: `
storage-version-migrator-controller
  list,patch * *
  update storagemigration.k8s.io storageversionmigrations/status`,
  },
  {
    gate: "StorageVersionAPI",
    controllers: `
storage-version-garbage-collector
  read coordination.k8s.io leases
  read,delete internal.apiserver.k8s.io storageversions
  patch,update internal.apiserver.k8s.io storageversions/status`,
  },
];
