/** Roles that a fresh cluster has only where a feature gate is on. How to read them: role-text.ts. */

export interface GatedRoles {
  readonly gate: string;
  /** As controllerRoles. */
  readonly controllers?: string | undefined;
  /** As clusterRoles. */
  readonly cluster?: string | undefined;
  /** Further rules of the role of nodes, as the lines of a role. */
  readonly node?: string | undefined;
  /** Cluster roles, each with the group that it is bound to. */
  readonly groups?: Readonly<Record<string, string>> | undefined;
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
  get apiextensions.k8s.io customresourcedefinitions
  patch apiextensions.k8s.io customresourcedefinitions/status
  update storagemigration.k8s.io storageversionmigrations/status`,
  },
  {
    gate: "StorageVersionAPI",
    controllers: `
storage-version-garbage-collector
  read coordination.k8s.io leases
  read,delete,patch,update internal.apiserver.k8s.io storageversions
  get,patch,update internal.apiserver.k8s.io storageversions/status`,
  },
];
