/** Roles that a fresh cluster has only where a feature gate is on. How to read them: role-text.ts. */

export interface GatedRoles {
  readonly gate: string;
  /** As controllerRoles. */
  readonly controllers?: string | undefined;
  /** As clusterRoles. */
  readonly cluster?: string | undefined;
  /** Further rules of roles that are always there, by name, as the lines of a role. */
  readonly rules?: Readonly<Record<string, string>> | undefined;
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
    rules: {
      "system:node": `
  read certificates.k8s.io clustertrustbundles`,
    },
  },
  {
    gate: "PodCertificateRequest",
    controllers: `
podcertificaterequestcleaner
  read,delete certificates.k8s.io podcertificaterequests`,
    rules: {
      "system:node": `
  create,read certificates.k8s.io podcertificaterequests`,
    },
  },
  {
    gate: "DRADeviceTaintRules",
    rules: {
      "system:kube-scheduler": `
  read resource.k8s.io devicetaintrules`,
      "system:controller:device-taint-eviction-controller": `
  read resource.k8s.io devicetaintrules
  patch,update resource.k8s.io devicetaintrules/status`,
    },
  },
  {
    gate: "GenericWorkload",
    controllers: `
podgroup-protection-controller
  read,update scheduling.k8s.io podgroups
  list,watch core pods`,
    rules: {
      "system:kube-scheduler": `
  read scheduling.k8s.io podgroups
  patch,update scheduling.k8s.io podgroups/status`,
    },
  },
  {
    gate: "WorkloadWithJob",
    rules: {
      "system:controller:job-controller": `
  create,read scheduling.k8s.io podgroups,workloads`,
    },
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
