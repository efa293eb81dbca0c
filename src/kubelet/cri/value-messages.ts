/** Values that several of CRI's messages have in common, as `messages.ts` puts them together. */

export const values = {
  Int64Value: { value: [1, "int64"] },
  UInt64Value: { value: [1, "uint64"] },
  PodSandboxMetadata: { name: [1, "string"], uid: [2, "string"], namespace: [3, "string"], attempt: [4, "uint32"] },
  ContainerMetadata: { name: [1, "string"], attempt: [2, "uint32"] },
  ImageSpec: {
    image: [1, "string"],
    annotations: [2, "map"],
    userSpecifiedImage: [18, "string"],
    runtimeHandler: [19, "string"],
  },
  /** `mode`s are NAMESPACE_MODES. */
  NamespaceOption: {
    network: [1, "int32"],
    pid: [2, "int32"],
    ipc: [3, "int32"],
    targetId: [4, "string"],
    usernsOptions: [5, "UserNamespace"],
  },
  UserNamespace: { mode: [1, "int32"], uids: [2, "IDMapping[]"], gids: [3, "IDMapping[]"] },
  IDMapping: { hostId: [1, "uint32"], containerId: [2, "uint32"], length: [3, "uint32"] },
  /** `profileType` is one of PROFILE_TYPES. */
  SecurityProfile: { profileType: [1, "int32"], localhostRef: [2, "string"] },
  HugepageLimit: { pageSize: [1, "string"], limit: [2, "uint64"] },
  LinuxContainerResources: {
    cpuPeriod: [1, "int64"],
    cpuQuota: [2, "int64"],
    cpuShares: [3, "int64"],
    memoryLimitInBytes: [4, "int64"],
    oomScoreAdj: [5, "int64"],
    cpusetCpus: [6, "string"],
    cpusetMems: [7, "string"],
    hugepageLimits: [8, "HugepageLimit[]"],
    unified: [9, "map"],
    memorySwapLimitInBytes: [10, "int64"],
  },
  /** `propagation` is one of PROPAGATIONS. */
  Mount: {
    containerPath: [1, "string"],
    hostPath: [2, "string"],
    readonly: [3, "bool"],
    propagation: [5, "int32"],
    uidMappings: [6, "IDMapping[]"],
    gidMappings: [7, "IDMapping[]"],
    recursiveReadOnly: [8, "bool"],
  },
  SELinuxOption: { user: [1, "string"], role: [2, "string"], type: [3, "string"], level: [4, "string"] },
  CDIDevice: { name: [1, "string"] },
  Device: { containerPath: [1, "string"], hostPath: [2, "string"], permissions: [3, "string"] },
  KeyValue: { key: [1, "string"], value: [2, "string"] },
} as const;
